"""Tests of productform.py: python3 -m unittest -q"""

import unittest
from fractions import Fraction

import productform
from productform import Mistake, column, pfq, rows, table

ONE = {
    "servers": [{"name": "s", "capacity": 1}],
    "classes": [{"name": "a", "arrival_rate": Fraction(1, 3), "servers": ["s"]}],
}


class Answers(unittest.TestCase):
    def test_fractions_and_switches(self):
        answer = pfq("solve", ONE, engine="exact", gradients=False, tol=None)
        self.assertEqual(Fraction(answer["classes"][0]["mean_delay_exact"]), Fraction(3, 2))  # 1/(1 - 1/3)
        by_class = pfq("stability", ONE, by_class=True)["classes"]
        self.assertEqual(by_class[0]["arrival_rate_limit"], 1)

    def test_rows(self):
        answers = pfq("solve", "shop.yaml", scale=[1, 3], percentiles=[99])
        found = rows(answers, "classes", keep=["scale"])
        self.assertEqual([(r["scale"], r["name"]) for r in found], [(1, "web"), (1, "reports")])  # 3 is unstable
        self.assertEqual(column(found, "mean_delay", name="web"), [0.625])
        self.assertEqual(column(table(answers, "classes"), "name"), ["web", "reports"])
        self.assertEqual(rows(answers)[1]["stable"], False)
        self.assertIn("delay.p99", found[0])

    def test_without_pandas(self):
        before, productform.pandas = productform.pandas, None
        try:
            self.assertIsInstance(table(pfq("solve", ONE), "classes"), list)
        finally:
            productform.pandas = before

    def test_mistakes(self):
        with self.assertRaisesRegex(Mistake, "want"):
            pfq("solve", ONE, engine="fast")
        with self.assertRaisesRegex(Mistake, "nothing.yaml"):
            pfq("solve", "nothing.yaml")
        with self.assertRaisesRegex(Mistake, "only one"):
            pfq("solve", ONE, ONE)


if __name__ == "__main__":
    unittest.main()
