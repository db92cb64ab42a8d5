benchmark = False


def version():
    return 91002
