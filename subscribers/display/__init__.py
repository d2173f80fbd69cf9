"""What people see of a table: its picture as data, and the pages that draw it."""
