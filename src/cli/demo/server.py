import random


def ask(name, wait):
    """The server's greeting. It answers within 0.12 seconds, most often sooner."""
    needed = random.uniform(0.02, 0.12)
    if needed > wait:
        raise TimeoutError(f"no answer for {name} within {wait} s")
    return f"welcome, {name}"
