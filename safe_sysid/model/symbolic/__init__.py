"""The model of an arm as CasADi expressions: for optimal control, own costs and as a judge."""
