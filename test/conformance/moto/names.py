# A plugin of pytest for moto's tests. The names that they draw by lot are in lower case, since a node group
# here is a Kubernetes object of its name. Launch configurations, which accounts of today cannot make, become
# launch templates of the same name on their way to the world. Names of classic load balancers are uuids without
# hyphens, since Elastic Load Balancing takes 32 characters. Changes nothing else.
import base64
import uuid

from botocore.client import BaseClient
from moto.moto_api._internal import mock_random

_drawn = mock_random.get_random_string


def _lower(*args, **kwargs):
    # With a letter first, as EKS and Kubernetes both want it of some names.
    return "n" + _drawn(*args, **kwargs).lower()[1:]


mock_random.get_random_string = _lower


def pytest_collection_modifyitems(items):
    for module in {item.module for item in items}:
        if module.__name__.endswith(".test_elb"):
            module.uuid4 = lambda: uuid.uuid4().hex


_call = BaseClient._make_api_call
_template_data = ("ImageId", "InstanceType", "KeyName", "UserData", "BlockDeviceMappings", "EbsOptimized")


def _region_of(client):
    return client.meta.region_name


def _ec2_of(client):
    import boto3

    return boto3.client("ec2", region_name=_region_of(client))


def _create(client, params):
    name = params["LaunchConfigurationName"]
    data = {key: params[key] for key in _template_data if key in params and params[key]}
    if "UserData" in data:
        # botocore encodes what a launch configuration has, and leaves a template's as it is.
        data["UserData"] = base64.b64encode(data["UserData"].encode()).decode()
    if params.get("SecurityGroups"):
        data["SecurityGroupIds"] = params["SecurityGroups"]
    if "ImageId" not in data or "InstanceType" not in data:
        # What a launch configuration lacks is an error of its own, which templates do not have.
        return None
    _ec2_of(client).create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
    return {"ResponseMetadata": {"HTTPStatusCode": 200}}


def _with_template(params):
    name = params.get("LaunchConfigurationName")
    others = ("LaunchTemplate", "MixedInstancesPolicy", "InstanceId")
    if not name or any(other in params for other in others):
        return params
    kept = {key: value for key, value in params.items() if key != "LaunchConfigurationName"}
    return {**kept, "LaunchTemplate": {"LaunchTemplateName": name, "Version": "$Latest"}}


def _translated(client, operation, params):
    if client.meta.service_model.service_name == "autoscaling":
        if operation == "CreateLaunchConfiguration":
            answer = _create(client, params)
            if answer is not None:
                return answer
        if operation in ("CreateAutoScalingGroup", "UpdateAutoScalingGroup"):
            params = _with_template(params)
    return _call(client, operation, params)


BaseClient._make_api_call = _translated
