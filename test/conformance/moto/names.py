# A plugin of pytest for moto's tests: the names that they draw by lot are in lower case, since a node group
# here is a Kubernetes object of its name. Changes nothing else.
from moto.moto_api._internal import mock_random

_drawn = mock_random.get_random_string


def _lower(*args, **kwargs):
    # With a letter first, as EKS and Kubernetes both want it of some names.
    return "n" + _drawn(*args, **kwargs).lower()[1:]


mock_random.get_random_string = _lower
