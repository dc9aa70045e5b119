// Tags of Auto Scaling groups over the API.
import { defined } from '../../../src/api/defined.ts';
import {
  type AwsInput,
  optionalFlag,
  optionalNumber,
  optionalText,
  structures,
  text,
} from '../../../src/aws-wire/index.ts';
import { applyFilters, readFilters } from '../filters.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import type { ServiceHandlers } from '../scope.ts';
import { tagDescription } from './render.ts';
import type { GroupTag } from './rows.ts';
import type { GroupStore } from './store.ts';

export const tagHandlers = (store: GroupStore): ServiceHandlers => ({
  CreateOrUpdateTags: (input) => changeTags(store, input, 'put'),
  DeleteTags: (input) => changeTags(store, input, 'delete'),
  DescribeTags: (input) => describeTags(store, input),
});

export const readTag = (tag: AwsInput): GroupTag => ({
  key: text(tag, 'Key'),
  value: optionalText(tag, 'Value') ?? '',
  propagate: optionalFlag(tag, 'PropagateAtLaunch') ?? false,
});

const changeTags = (store: GroupStore, input: AwsInput, change: 'put' | 'delete') => {
  for (const given of structures(input, 'Tags')) {
    const group = store.needGroup(optionalText(given, 'ResourceId') ?? '');
    const tag = readTag(given);
    const others = group.tags.filter((one) => one.key !== tag.key);
    store.patchGroup(group.name, { tags: change === 'put' ? [...others, tag] : others });
  }
};

const describeTags = (store: GroupStore, input: AwsInput) => {
  const all = store
    .groups()
    .flatMap((group) => group.tags.map((tag) => ({ ...tag, group: group.name })));
  const found = applyFilters(
    all,
    readFilters(input),
    {
      'auto-scaling-group': (tag) => tag.group,
      key: (tag) => tag.key,
      value: (tag) => tag.value,
      'propagate-at-launch': (tag) => (tag.propagate ? ['true', 'True'] : ['false', 'False']),
    },
    () => ({}),
  );
  const page = pageOf(found, {
    max: optionalNumber(input, 'MaxRecords') ?? 50,
    token: optionalText(input, 'NextToken'),
    keyOf: (tag) => `${tag.group}/${tag.key}`,
    invalid: invalidNextToken,
  });
  return {
    Tags: page.items.map((tag) => tagDescription(tag.group, tag)),
    ...defined({ NextToken: page.nextToken }),
  };
};
