// For tests: templates in the form of eksctl's for node groups, with its functions, imports and
// exports. Not part of the public entry.

const importOf = (cluster: string, name: string) => ({
  'Fn::ImportValue': `eksctl-${cluster}-cluster::${name}`,
});
const stackName = { 'Fn::Sub': '$' + '{AWS::StackName}' };
const policy = (name: string) => ({
  'Fn::Sub': `arn:$${'{AWS::Partition}'}:iam::aws:policy/${name}`,
});

const nodeInstanceRole = {
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Statement: [
        {
          Action: ['sts:AssumeRole'],
          Effect: 'Allow',
          Principal: { Service: ['ec2.amazonaws.com'] },
        },
      ],
      Version: '2012-10-17',
    },
    ManagedPolicyArns: [policy('AmazonEKSWorkerNodePolicy'), policy('AmazonEKS_CNI_Policy')],
    Path: '/',
    Tags: [{ Key: 'Name', Value: { 'Fn::Sub': '$' + '{AWS::StackName}/NodeInstanceRole' } }],
  },
};

export const eksctlManaged = (cluster: string, name: string) => ({
  AWSTemplateFormatVersion: '2010-09-09',
  Description: 'EKS Managed Nodes (SSH access: false) [created by eksctl]',
  Resources: {
    LaunchTemplate: {
      Type: 'AWS::EC2::LaunchTemplate',
      Properties: {
        LaunchTemplateData: {
          BlockDeviceMappings: [
            { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 80, VolumeType: 'gp3' } },
          ],
          MetadataOptions: { HttpPutResponseHopLimit: 2, HttpTokens: 'required' },
          SecurityGroupIds: [importOf(cluster, 'ClusterSecurityGroupId')],
        },
        LaunchTemplateName: stackName,
      },
    },
    ManagedNodeGroup: {
      Type: 'AWS::EKS::Nodegroup',
      Properties: {
        AmiType: 'AL2_x86_64',
        ClusterName: cluster,
        InstanceTypes: ['m5.large'],
        Labels: { 'alpha.eksctl.io/cluster-name': cluster },
        LaunchTemplate: { Id: { Ref: 'LaunchTemplate' } },
        NodeRole: { 'Fn::GetAtt': ['NodeInstanceRole', 'Arn'] },
        NodegroupName: name,
        ScalingConfig: { DesiredSize: 1, MaxSize: 1, MinSize: 1 },
        Subnets: { 'Fn::Split': [',', importOf(cluster, 'SubnetsPublic')] },
        Tags: { 'alpha.eksctl.io/nodegroup-name': name },
      },
    },
    NodeInstanceRole: nodeInstanceRole,
  },
});

export const eksctlSelfManaged = (cluster: string) => ({
  AWSTemplateFormatVersion: '2010-09-09',
  Description: 'EKS nodes (AMI family: AmazonLinux2) [created and managed by eksctl]',
  Resources: {
    SG: {
      Type: 'AWS::EC2::SecurityGroup',
      Properties: {
        GroupDescription: 'Communication between the control plane and worker nodes',
        VpcId: importOf(cluster, 'VPC'),
      },
    },
    IngressInterCluster: {
      Type: 'AWS::EC2::SecurityGroupIngress',
      Properties: {
        GroupId: { Ref: 'SG' },
        IpProtocol: 'tcp',
        FromPort: 1025,
        ToPort: 65535,
        SourceSecurityGroupId: importOf(cluster, 'ClusterSecurityGroupId'),
      },
    },
    NodeGroupLaunchTemplate: {
      Type: 'AWS::EC2::LaunchTemplate',
      Properties: {
        LaunchTemplateName: stackName,
        LaunchTemplateData: {
          ImageId:
            'resolve:ssm:/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id',
          InstanceType: 'm5.large',
          IamInstanceProfile: { Arn: { 'Fn::GetAtt': ['NodeInstanceProfile', 'Arn'] } },
          BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: '80' } }],
          NetworkInterfaces: [
            { AssociatePublicIpAddress: true, DeviceIndex: 0, Groups: [{ Ref: 'SG' }] },
          ],
        },
      },
    },
    NodeGroup: {
      Type: 'AWS::AutoScaling::AutoScalingGroup',
      Properties: {
        DesiredCapacity: '1',
        MinSize: '1',
        MaxSize: '2',
        LaunchTemplate: {
          LaunchTemplateName: stackName,
          Version: { 'Fn::GetAtt': ['NodeGroupLaunchTemplate', 'LatestVersionNumber'] },
        },
        Tags: [{ Key: 'Name', PropagateAtLaunch: 'true', Value: `${cluster}-ng-Node` }],
        VPCZoneIdentifier: { 'Fn::Split': [',', importOf(cluster, 'SubnetsPublic')] },
      },
    },
    NodeInstanceProfile: {
      Type: 'AWS::IAM::InstanceProfile',
      Properties: { Path: '/', Roles: [{ Ref: 'NodeInstanceRole' }] },
    },
    NodeInstanceRole: nodeInstanceRole,
  },
  Outputs: {
    InstanceRoleARN: {
      Export: { Name: { 'Fn::Sub': '$' + '{AWS::StackName}::InstanceRoleARN' } },
      Value: { 'Fn::GetAtt': 'NodeInstanceRole.Arn' },
    },
    FeatureLocalSecurityGroup: { Value: true },
  },
});
