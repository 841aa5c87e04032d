"""Small texts of the report, and what the page's threshold needs."""

from hornbeam import TreeClassifier
from hornbeam.explain.candidates.list_splits import competitors
from hornbeam.reporting.markup import Markup, element, joined
from hornbeam.reporting.payload import safe_json
from hornbeam.reporting.reported_model import ReportedModel
from hornbeam.reporting.scored_rows import ScoredRows
from hornbeam.reporting.sections.competitors import competitor_grid
from hornbeam.reporting.sections.provenance import setting_text
from hornbeam.reporting.sections.reliability import rule_sentence, thresholds
from hornbeam.reporting.summary import listed, prior_source, shown, summary_sentences


def test_names_are_shortened_and_lists_cut():
    assert len(shown("x" * 10_000)) == 40
    assert [listed(list("abc")), listed(list("abcdefgh"))] == ["a, b, c", "a, b, c, d, e and 3 more"]
    assert [setting_text(value) for value in (None, "auto", {"a": 1})] == ["None", "auto", "{'a': 1}"]


def test_text_is_escaped_once():
    assert element("p", Markup("a<br>b")) + element("p", "a<br>b") == "<p>a<br>b</p><p>a&lt;br&gt;b</p>"
    assert joined(["<", element("br"), 3]) == "&lt;<br>3"
    assert safe_json(["</script>", "\u2028", "&"]) == r'["\u003c/script\u003e","\u2028","\u0026"]'


def test_a_model_is_described():
    clf = TreeClassifier(smoothing="laplace").fit([[0], [0], [1], [1]], ["no", "no", "yes", "yes"])
    reported = ReportedModel.of(clf)
    size, rows, scores = summary_sentences(reported, None, [])
    assert size.startswith(
        "This decision tree has 2 leaves and predicts the probabilities of 2 classes (no, yes)."
    )
    assert rows.startswith("A leaf has 2 training rows.")
    assert scores == "No test rows were given, so this report has no scores."
    assert rule_sentence(reported) == "The model decides for the most probable class."
    assert prior_source(TreeClassifier().fit([[0], [1]], ["no", "yes"]).tree_) == "the nodes above"


def test_thresholds_count_the_rows_of_each_probability():
    clf = TreeClassifier(smoothing="laplace", costs=[[0, 1], [4, 0]]).fit([[0], [1]], [0, 1])
    reported = ReportedModel.of(clf)
    found = thresholds(reported, ScoredRows.of(reported, [[0], [1], [1]], [0, 0, 1]))
    assert round(found["in_use"], 3) == 0.2
    assert [round(p, 3) for p in found["said"]] == [0.333, 0.667]
    assert (found["no"], found["yes"]) == ([1, 1], [0, 1])


def test_the_split_of_the_tree_is_the_first_of_its_competitors():
    X, y = [[1, 5], [2, 6], [3, 5], [4, 6]], ["no", "no", "yes", "no"]
    [found] = competitors(TreeClassifier("id3").fit(X, y), (X, y), [0])
    assert competitor_grid(found).markdown().splitlines() == [
        "| Split | Gain | Agreement |",
        "|---|--:|--:|",
        r"| x0 ≤ 2.5 \| > 2.5 (in the tree) | 0.3113 | 1.00 |",
        r"| x1 ≤ 5.5 \| > 5.5 | 0.3113 | 0.00 |",
    ]
