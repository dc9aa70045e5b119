// EventBridge over the API: rules with event patterns on the default bus, their targets, PutEvents.
// Schedules, other buses and input transformers are refused.
import { defined } from '../../../src/api/defined.ts';
import { isObject } from '../../../src/api/json.ts';
import { parseJson } from '../../../src/api/parse-json.ts';
import {
  type AwsInput,
  optionalText,
  structures,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';
import { type EventBus, parsePattern, type RuleRow } from './event-bus.ts';

export interface EventsParts {
  readonly scope: Scope;
  readonly events: EventBus;
}

export const eventsHandlers = (parts: EventsParts): ServiceHandlers => ({
  ...ruleHandlers(parts),
  ...targetHandlers(parts),
});

const ruleArn = ({ scope }: EventsParts, name: string): string =>
  scope.arn('events', `rule/${name}`);

const needRule = ({ events }: EventsParts, name: string): RuleRow => {
  const rule = events.rule(name);
  if (rule !== undefined) return rule;
  throw refuse('ResourceNotFoundException', `Rule ${name} does not exist on EventBus default.`);
};

const checkBus = (input: AwsInput): void => {
  const bus = optionalText(input, 'EventBusName') ?? 'default';
  if (bus !== 'default') {
    throw refuse('ResourceNotFoundException', `Event bus ${bus} does not exist.`);
  }
};

const renderRule = (parts: EventsParts, rule: RuleRow) => ({
  Name: rule.name,
  Arn: ruleArn(parts, rule.name),
  EventPattern: rule.patternText,
  State: rule.state,
  ...defined({ Description: rule.description }),
  EventBusName: 'default',
});

const ruleHandlers = (parts: EventsParts): ServiceHandlers => ({
  PutRule: (input) => {
    checkBus(input);
    const name = text(input, 'Name');
    const patternText = optionalText(input, 'EventPattern');
    if (patternText === undefined) {
      throw refuse('ValidationException', "Drover's world has rules with an event pattern only.");
    }
    const description = optionalText(input, 'Description');
    parts.events.putRule({
      name,
      pattern: parsePattern(patternText),
      patternText,
      state: optionalText(input, 'State') === 'DISABLED' ? 'DISABLED' : 'ENABLED',
      targets: parts.events.rule(name)?.targets ?? [],
      ...defined({ description }),
    });
    return { RuleArn: ruleArn(parts, name) };
  },
  DescribeRule: (input) => renderRule(parts, needRule(parts, text(input, 'Name'))),
  DeleteRule: (input) => {
    const rule = parts.events.rule(text(input, 'Name'));
    if (rule === undefined) return;
    if (rule.targets.length > 0) {
      throw refuse('ValidationException', "Rule can't be deleted since it has targets.");
    }
    parts.events.deleteRule(rule.name);
  },
  EnableRule: (input) => {
    parts.events.putRule({ ...needRule(parts, text(input, 'Name')), state: 'ENABLED' });
  },
  DisableRule: (input) => {
    parts.events.putRule({ ...needRule(parts, text(input, 'Name')), state: 'DISABLED' });
  },
  ListRules: (input) => {
    const prefix = optionalText(input, 'NamePrefix') ?? '';
    const rules = parts.events.rules().filter((rule) => rule.name.startsWith(prefix));
    return { Rules: rules.map((rule) => renderRule(parts, rule)) };
  },
  PutEvents: (input) => ({
    FailedEntryCount: 0,
    Entries: structures(input, 'Entries').map((entry) => putEvent(parts, entry)),
  }),
});

const putEvent = ({ events }: EventsParts, entry: AwsInput) => {
  const source = optionalText(entry, 'Source') ?? '';
  if (source.startsWith('aws.')) {
    return {
      ErrorCode: 'NotAuthorizedForSourceException',
      ErrorMessage: 'Not authorized for the source.',
    };
  }
  let detail: unknown;
  try {
    detail = parseJson(optionalText(entry, 'Detail') ?? '');
  } catch {
    detail = undefined;
  }
  if (!isObject(detail)) {
    return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  }
  const detailType = optionalText(entry, 'DetailType') ?? '';
  return {
    EventId: events.put({ source, detailType, resources: texts(entry, 'Resources'), detail }),
  };
};

const targetHandlers = (parts: EventsParts): ServiceHandlers => ({
  PutTargets: (input) => {
    const rule = needRule(parts, text(input, 'Rule'));
    const added = structures(input, 'Targets').map((target) => {
      if (target.InputPath !== undefined || target.InputTransformer !== undefined) {
        throw refuse('ValidationException', "Drover's world sends targets the whole event only.");
      }
      return { id: text(target, 'Id'), arn: text(target, 'Arn') };
    });
    const kept = rule.targets.filter((old) => added.every((target) => target.id !== old.id));
    parts.events.putRule({ ...rule, targets: [...kept, ...added] });
    return { FailedEntryCount: 0, FailedEntries: [] };
  },
  RemoveTargets: (input) => {
    const rule = needRule(parts, text(input, 'Rule'));
    const ids = texts(input, 'Ids');
    const targets = rule.targets.filter((target) => !ids.includes(target.id));
    parts.events.putRule({ ...rule, targets });
    return { FailedEntryCount: 0, FailedEntries: [] };
  },
  ListTargetsByRule: (input) => ({
    Targets: needRule(parts, text(input, 'Rule')).targets.map(({ id, arn }) => ({
      Id: id,
      Arn: arn,
    })),
  }),
});
