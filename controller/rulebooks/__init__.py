"""One TOML file per decree: numbers, orders, phrases and articles. Data only."""
