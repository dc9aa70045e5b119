// The text of `kubectl explain` for an update's configuration: batch sizes, policies, pacing,
// hooks.
import type { Words } from './crd-words.ts';

/** Fields of `policies` and `updateConfig`: what happens when a step fails. */
export const updatePolicyWords: Words = {
  drain: [
    'The drain of one node: its time limit and what happens when it is exceeded.',
    {
      timeoutSeconds:
        "Seconds that a drain may take; default: the group's spec.drain (900, as in EKS).",
      cooldownSeconds:
        'Seconds between the last pod leaving and the termination of the instance; default ' +
        '60, as in EKS.',
      onTimeout:
        'Fail (default) ends the update. Skip returns the node to service. Quarantine keeps ' +
        'it cordoned. Force deletes its pods. Pause waits for an operator.',
      forceAfterSeconds:
        'For Force: seconds between the timeout and the deletion of pods; default 0.',
    },
  ],
  maxQuarantined:
    'For Quarantine: the update fails when more nodes than this are quarantined; default 1.',
  capacity: [
    'What happens when a zone has no capacity for a new node.',
    {
      onShortage:
        "Elsewhere (default): the zone's old nodes are replaced last, in zones with " +
        'capacity. Minimal: the same, but an old node is drained first when no zone has ' +
        'capacity. Fail: the old nodes stay and the update fails.',
      waitSeconds:
        'Seconds between the last failed launch in the zone and that action; default 300.',
    },
  ],
  blueGreen: [
    'For BLUE_GREEN: how long empty old nodes are kept.',
    {
      soakSeconds:
        'Seconds between the last old node becoming empty and the termination of all old ' +
        'nodes; default 3600.',
      batchSoakSeconds: 'Seconds between two batches of maxUnavailable old nodes; default 0.',
    },
  ],
  rollback: [
    'Automatic rollback of an update that fails.',
    {
      auto: 'Whether a failed update is rolled back automatically.',
      failedNewNodes:
        'Number of new nodes that fail to join before the rollback starts; default 1.',
    },
  ],
};

const pacingWords: Words = {
  windows: [
    'Maintenance windows. No node is started while all of them are closed.',
    {
      cron: 'Opening time in crontab format: minute, hour, day of month, month, day of week.',
      durationSeconds: 'Seconds that the window stays open, 60 to 604800.',
      timeZone: 'IANA name such as Europe/Berlin; default UTC.',
    },
  ],
  windowDefault: 'State without any window: Open (default) or Closed.',
  freezes: [
    'Freezes. No node is started during one, even in an open window.',
    {
      from: 'Start of the freeze.',
      until: 'End of the freeze.',
      reason: 'Reason, shown to operators.',
    },
  ],
  approval: 'Required: an update does not start before its annotation drover.dev/approved is set.',
  waves: [
    'Waves. After each one the update pauses for its soak and gates.',
    {
      percent: 'Percentage of all nodes, earlier waves included.',
      soakSeconds: "Seconds to wait after the wave's last new node is Ready; default 0.",
      gates: 'What the next wave waits for in addition: Approval, Probes.',
    },
  ],
  probes: [
    'Health probes. No further node is started while a probe fails.',
    {
      name: 'Name of the probe in holds and messages.',
      http: [
        'An HTTP probe. It sends a GET and passes on the expected status.',
        {
          url: 'URL to request.',
          expectedStatus: 'Expected status code; default: any of 200 to 299.',
        },
      ],
      condition: [
        'A condition probe. It passes when an object in the cluster has this condition.',
        {
          apiVersion: "The object's apiVersion.",
          kind: "The object's kind.",
          namespace: "The object's namespace; absent for a cluster-scoped object.",
          name: "The object's name.",
          type: 'Type of the condition.',
          status: 'Expected status of the condition; default True.',
        },
      ],
      intervalSeconds: 'Seconds between two checks; default 30.',
      failureThreshold:
        'Number of consecutive failures before the probe counts as failing; default 3.',
      onFailure: 'Hold (default) waits until the probe passes. Fail ends the update.',
    },
  ],
};

const hookWords: Words = {
  job: [
    'A hook that runs as a Job.',
    {
      namespace: 'Namespace of the CronJob and of the Job.',
      cronJob: 'Name of a CronJob, usually suspended. Its jobTemplate runs for each node.',
    },
  ],
  webhook: [
    'A hook that is called with a POST.',
    {
      url:
        'An https URL. Plain http is allowed only on loopback, and loopback only with ' +
        '--allow-loopback-webhooks.',
      caBundle: 'CA certificate of the server: PEM, base64-encoded.',
      bearerTokenSecret: [
        'Secret whose value is sent as Authorization: Bearer. The controller needs the ' +
          'right to get it.',
        {
          namespace: "The Secret's namespace.",
          name: "The Secret's name.",
          key: "Key in the Secret's data; default token.",
        },
      ],
    },
  ],
  timeoutSeconds: 'Seconds that the hook may take; default 600.',
  onFailure: 'Fail (default) ends the update. Continue ignores the failure.',
};

/** Every field of a group's `updateConfig`. */
export const updateConfigWords: Words = {
  maxUnavailable: 'Maximum number of nodes drained at once (1-100, default 1).',
  maxUnavailablePercentage:
    'maxUnavailable as a percentage of the nodes: rounded down, at least one.',
  updateStrategy:
    "DEFAULT and MINIMAL are EKS's strategies. SURGE (the default outside the EKS API) and " +
    "BLUE_GREEN are Drover's own.",
  ...updatePolicyWords,
  ...pacingWords,
  hooks: [
    'Your own hooks, run for each node. Drover waits for them.',
    {
      preDrain: ['Runs after the node is cordoned and before its pods are evicted.', hookWords],
      postDrain: [
        'Runs when the drain is complete. The instance is terminated after it.',
        hookWords,
      ],
      preTerminate: ['Runs just before the instance is terminated.', hookWords],
      postReady: ['Runs when a new node is Ready. The node counts as updated after it.', hookWords],
    },
  ],
};
