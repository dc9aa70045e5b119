// The ClusterConfig of article 004, unchanged. Tests only.
export const article004 = `apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig

metadata:
  name: test-cluster
  region: ap-northeast-1
  version: "1.31"

iam:
  withOIDC: true

cloudWatch:
  clusterLogging:
    enableTypes:
      - "audit"
      - "authenticator"
      - "controllerManager"
      - "scheduler"

managedNodeGroups:
  - name: ng-1
    nodeRepairConfig:
      enabled: true

autoModeConfig:
  enabled: false
`;
