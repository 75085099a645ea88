import server


def login(name, wait=0.1):
    return server.ask(name, wait)
