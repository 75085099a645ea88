import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))
import login


class Login(unittest.TestCase):
    def test_login_greets_by_name(self):
        self.assertIn("guest", login.login("guest", wait=1))

    def test_login_waits_for_a_slow_server(self):
        self.assertTrue(login.login("guest"))
