"""The rows of the benchmark: each module measures some and gives lists of Comparison."""
