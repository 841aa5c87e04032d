"""Small tables of textbooks and lectures, whose numbers can be checked by hand."""

from typing import Any

from hornbeam.checks import check_choice
from hornbeam.grid import data_frame

# The first line has the names of the columns; the last column is the target.
_TABLES = {
    "days": """humidity cloud weather
        40 10 dry, 45 30 dry, 60 0 dry, 65 20 dry, 50 60 dry,
        55 80 rain, 70 90 dry, 80 20 rain, 85 70 dry, 90 10 rain""",
    "hours": """hours result
        1 f, 2 f, 3 p, 4 f, 5 f, 6 p, 7 p, 8 p, 9 f, 10 p, 11 p, 12 p""",
    "pizza": """Meat Crust Veg Quality
        Y Thin N Great, N Deep N Bad, N Stuffed Y Good, Y Stuffed Y Great, Y Deep N Good,
        Y Deep Y Great, N Thin Y Good, Y Deep N Good, N Thin N Bad""",
    "points": """x y sign
        .06 .52 1, .14 .41 1, .71 .77 1, .68 .76 1, .73 .88 1,
        .56 .66 -1, .66 .55 -1, .25 .28 -1, .83 .77 -1, .85 .59 -1""",
    "restaurant": """Alternative Bar FriSat Hungry Patrons Price Raining Reservation Type WaitEstimate Wait
        T F F T Some $$$ F T French 0-10 T, T F F T Full $ F F Thai 30-60 F, F T F F Some $ F F Burger 0-10 T,
        T F T T Full $ F F Thai 10-30 T, T F T F Full $$$ F T French >60 F, F T F T Some $$ T T Italian 0-10 T,
        F T F F None $ T F Burger 0-10 F, F F F T Some $$ T T Thai 0-10 T, F T T F Full $ T F Burger >60 F,
        T T T T Full $$$ F T Italian 10-30 F, F F F F None $ F F Thai 0-10 F, T T T T Full $ F F Burger 30-60 T""",
    "tennis": """outlook temperature humidity wind play
        sunny hot high weak no, sunny hot high strong no, overcast hot high weak yes, rain mild high weak yes,
        rain cool normal weak yes, rain cool normal strong no, overcast cool normal strong yes, sunny mild high weak no,
        sunny cool normal weak yes, rain mild normal weak yes, sunny mild normal strong yes,
        overcast mild high strong yes, overcast hot normal weak yes, rain mild high strong no""",
    "things": """size colour class
        S R yes, S R yes, S G yes, S G yes, S B no, S B no,
        L R no, L R no, L G no, L G no, L B no, L B no, L B yes""",
}


def example_table(name: str) -> tuple[Any, Any]:
    """Return the features and the target of a small table.

    Parameters
    ----------
    name : {"days", "hours", "pizza", "points", "restaurant", "tennis", "things"}
        Ten days and their weather; hours of study of twelve students; nine pizzas; ten points of the plane for
        AdaBoost; twelve visits to a restaurant, of the textbook of Russell and Norvig; fourteen days of tennis, of
        Quinlan; thirteen things of two sizes and three colours.

    Returns
    -------
    X : pandas.DataFrame or polars.DataFrame
        Of pandas, or of polars if pandas is not installed.
    y : Series

    Raises
    ------
    MissingExtraError
        If neither pandas nor polars is installed.

    Examples
    --------
    >>> from hornbeam import TreeClassifier, example_table
    >>> X, y = example_table("tennis")
    >>> print(TreeClassifier("id3").fit(X, y).tree_)
    0) every row
    ├─ 1) outlook = overcast ···· yes  1.000  4 yes
    ├─ 2) outlook = rain
    │  ├─ 4) wind = strong ······ no   1.000  2 no
    │  └─ 5) wind = weak ········ yes  1.000  3 yes
    └─ 3) outlook = sunny
       ├─ 6) humidity = high ···· no   1.000  3 no
       └─ 7) humidity = normal ·· yes  1.000  2 yes
    """
    check_choice("name", name, _TABLES)
    header, lines = _TABLES[name].split("\n", 1)
    rows = zip(*(line.split() for line in lines.split(",")), strict=True)
    *features, target = zip(header.split(), map(_values, rows), strict=True)
    return data_frame(dict(features)), data_frame(dict([target]))[target[0]]


def _values(cells: tuple[str, ...]) -> list[Any]:
    """Return the cells of a column as integers or as floats if they all are such numbers."""
    for kind in (int, float):
        try:
            return [kind(cell) for cell in cells]
        except ValueError:
            continue
    return list(cells)
