"""The picture of the page "Ranking"."""

import numpy as np
from svg import BLUE, GREY, line, picture, text

from hornbeam import BoostedTreesRanker
from hornbeam.evaluation import ndcg

NAMES, GRADE, WORDS = "ABC", np.array([0, 1, 2]), np.array([1, 3, 2])
GAIN = 2**GRADE - 1
DISCOUNT = 1 / np.log2(1 + np.arange(1, 4))
HEIGHT, UNIT, WIDTH = 130, 36, 70  # room for bars, a gain of 1, a bar


def bar(x: float, bottom: float, height: float, colour: str) -> str:
    corner = f'x="{x - WIDTH / 2:.1f}" y="{bottom - height:.1f}"'
    return f'<rect {corner} width="{WIDTH}" height="{height:.1f}" fill="{colour}"/>'


def order(title: str, scores: np.ndarray, top: float) -> str:
    """The documents of a query by score, each with its gain and the part that counts."""
    bottom = top + 30 + HEIGHT
    by_rank = np.argsort(-scores)
    dcg = GAIN[by_rank] @ DISCOUNT
    heading = f"{title}: DCG {dcg:.4f}, NDCG {ndcg(GRADE, scores):.4f}"
    parts = [text(210, top + 8, heading, size=15), line((20, bottom), (400, bottom))]
    for i, (document, discount) in enumerate(zip(by_rank, DISCOUNT, strict=True)):
        x, gain = 85 + 125 * i, int(GAIN[document])
        words = f"{gain} × {discount:.2f} = {gain * discount:.2f}"
        parts += [
            bar(x, bottom, gain * UNIT, "#c6dbef"),
            bar(x, bottom, gain * discount * UNIT, BLUE),
            text(x, bottom - gain * UNIT - 8, words),
            text(x, bottom + 22, f"{NAMES[document]}, grade {GRADE[document]}"),
            text(x, bottom + 40, f"rank {i + 1}", colour=GREY, size=13),
        ]
    return "".join(parts)


def query() -> str:
    rows = WORDS[:, None]
    ranker = BoostedTreesRanker(
        n_estimators=1, learning_rate=1.0, min_samples_leaf=1, normalize=False
    )
    after = ranker.fit(rows, GRADE, query=[7, 7, 7]).predict(rows)
    return picture(
        "A query before and after one tree of LambdaMART: gains, and gains times discounts",
        420,
        460,
        order("as shown", -np.arange(3), 20),
        order("after one tree", after, 245),
    )


PICTURES = {"learn-ranking-query": query}
