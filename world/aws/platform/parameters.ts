// SSM's public parameters for EKS and Amazon Linux images, derived from the images of the world.
import { defined } from '../../../src/api/defined.ts';
import {
  optionalFlag,
  optionalNumber,
  optionalText,
  text,
  texts,
} from '../../../src/aws-wire/index.ts';
import type { Images, PublishedParameter } from '../ec2/images.ts';
import { invalidNextToken, pageOf } from '../paging.ts';
import { refuse, type Scope, type ServiceHandlers } from '../scope.ts';

const render = (scope: Scope, parameter: PublishedParameter) => ({
  Name: parameter.name,
  Type: 'String',
  Value: parameter.value,
  Version: 1,
  LastModifiedDate: parameter.modifiedAt,
  ARN: `arn:aws:ssm:${scope.region}::parameter${parameter.name}`,
  DataType: parameter.dataType ?? 'text',
});

export const parameterHandlers = (scope: Scope, images: Images): ServiceHandlers => {
  const find = (name: string): PublishedParameter | undefined =>
    images.parameters().find((parameter) => parameter.name === name);
  return {
    GetParameter: (input) => {
      const name = text(input, 'Name');
      const parameter = find(name);
      if (parameter === undefined)
        throw refuse('ParameterNotFound', `Parameter ${name} not found.`);
      return { Parameter: render(scope, parameter) };
    },
    GetParameters: (input) => {
      const names = texts(input, 'Names');
      return {
        Parameters: names.flatMap((name) => find(name) ?? []).map((one) => render(scope, one)),
        InvalidParameters: names.filter((name) => find(name) === undefined),
      };
    },
    GetParametersByPath: (input) => {
      const path = text(input, 'Path').replace(/\/?$/, '/');
      const isRecursive = optionalFlag(input, 'Recursive') ?? false;
      const below = images
        .parameters()
        .filter(({ name }) => name.startsWith(path))
        .filter(({ name }) => isRecursive || !name.slice(path.length).includes('/'));
      const page = pageOf(below, {
        max: optionalNumber(input, 'MaxResults') ?? 10,
        token: optionalText(input, 'NextToken'),
        keyOf: (parameter) => parameter.name,
        invalid: invalidNextToken,
      });
      return {
        Parameters: page.items.map((one) => render(scope, one)),
        ...defined({ NextToken: page.nextToken }),
      };
    },
  };
};
