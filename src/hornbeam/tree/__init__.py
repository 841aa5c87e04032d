"""The tree as data, and the makers of trees from trees."""
