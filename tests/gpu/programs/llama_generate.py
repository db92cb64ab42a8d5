"""Has a small Llama of transformers generate tokens: llama_generate.py [calls] [--static] [--no-graphs].

With --static its cache has a fixed size, and the model is compiled into CUDA graphs; --no-graphs compiles it without them.
"""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM


def main(calls, static, graphs):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=1024,
        intermediate_size=2816,
        num_hidden_layers=8,
        num_attention_heads=16,
        num_key_value_heads=8,
        max_position_embeddings=1024,
    )
    model = LlamaForCausalLM(config).cuda().to(torch.bfloat16).eval()
    more = {}
    if static:
        from transformers import CompileConfig  # newer than the rest

        more = {
            "cache_implementation": "static",
            "compile_config": CompileConfig(mode="reduce-overhead" if graphs else "default"),
        }
    for _ in range(calls):
        tokens = torch.randint(0, config.vocab_size, (4, 64), device="cuda")
        made = model.generate(
            tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=48, do_sample=False, pad_token_id=0, **more
        )
    print("finished", calls, "calls of", made.shape[1], "tokens")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers[0] if numbers else 8, "--static" in sys.argv, "--no-graphs" not in sys.argv)
