"""What the catalog and the tables' histories say: relations, inputs, versions, the state of the stored view."""
