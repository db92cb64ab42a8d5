"""A small part of the kill campaign (campaign.py), with one seed."""

from campaign import Campaign


class CampaignTest(Campaign):
    def test_a_few_moments(self):
        self.run_moments(25, 1)
