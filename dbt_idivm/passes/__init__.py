"""The passes of idIVM §4 under the paper's names: pure functions over frozen trees."""
