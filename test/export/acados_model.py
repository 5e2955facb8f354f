"""What acados asks of a model, where acados itself is not installed.

Fields, checks and arguments of generated functions are those of acados_template as of August 2026
(`AcadosModel.make_consistent`, `casadi_function_generation.py`).
"""

import casadi as cs


class AcadosModel:
    """Fields as in acados_template, which says nothing of others."""

    FIELDS = ('name', 'x', 'xdot', 'u', 'z', 'p', 't', 'p_global', 'pi',
              'f_impl_expr', 'f_expl_expr', 'disc_dyn_expr')  # fmt: skip

    def __init__(self):
        for field in self.FIELDS:
            setattr(self, field, [] if field in ('z', 'p', 't', 'p_global') else None)

    def __setattr__(self, field, value):
        if field not in self.FIELDS:
            raise AttributeError(f'AcadosModel has no {field}')
        object.__setattr__(self, field, value)

    def functions(self):
        """Explicit and implicit dynamics with derivatives, after the checks of acados."""
        assert isinstance(self.name, str)
        assert self.name.isidentifier()  # of C functions and files
        kind = type(self.x)
        assert kind in (cs.SX, cs.MX)
        for symbol in (self.x, self.xdot, self.u, self.p):
            assert isinstance(symbol, kind)
            assert symbol.is_valid_input()
            assert symbol.is_column()
        states = self.x.numel()
        for rates in (self.xdot, self.f_expl_expr, self.f_impl_expr):  # no algebraic variables
            assert rates.numel() == states
        z = kind.sym('z', 0, 1)
        explicit = [self.x, self.u, self.p]
        implicit = [self.x, self.xdot, self.u, z, self.p]
        multiplier = kind.sym('multiplier', states)
        slopes = [cs.jacobian(self.f_impl_expr, symbol) for symbol in implicit[:3]]
        adjoint = cs.jtimes(self.f_expl_expr, cs.vertcat(self.x, self.u), multiplier, True)
        return (
            cs.Function(f'{self.name}_expl_ode_fun', explicit, [self.f_expl_expr]),
            cs.Function(f'{self.name}_impl_dae_fun', implicit, [self.f_impl_expr, *slopes]),
            cs.Function(f'{self.name}_expl_vde_adj', [multiplier, *explicit], [adjoint]),
        )
