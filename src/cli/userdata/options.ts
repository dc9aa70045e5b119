// The flags that the userdata commands share: family, version, instance type, launcher. Parses
// their texts into values, with a usage error for invalid ones.
import { Option } from 'commander';
import { isCidr } from '../../api/addresses.ts';
import { type Family, families, familyCalled, instanceTypeFacts } from '../../formats/index.ts';
import { CommandError, exitCodes } from '../context.ts';

export const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);

export const familyOption = (): Option =>
  new Option(
    '--family <family>',
    `image family: ${families.join(', ')}; eksctl’s and EKS’ names too`,
  );
export const kubernetesOption = (): Option =>
  new Option('--kubernetes <version>', 'Kubernetes version of the nodes').default('1.33');
export const typeOption = (): Option =>
  new Option('-t, --instance-type <type>', 'instance type, for pod limits and reservations');

export const familyNamed = (name: string | undefined): Family | undefined => {
  if (name === undefined) return undefined;
  const family = familyCalled(name);
  if (family === undefined) throw usage(`--family ${name} is none of ${families.join(', ')}`);
  return family;
};

export const versionGiven = (text: string): string => {
  if (/^v?1\.\d{1,2}(?:\.\d+)?$/.test(text)) return text.replace(/^v/, '');
  throw usage(`--kubernetes takes a version such as 1.33, not ${text}`);
};

export const cidrGiven = (text: string): string => {
  if (isCidr(text)) return text;
  throw usage(`--service-cidr takes a CIDR such as 10.100.0.0/16, not ${text}`);
};

export const typeGiven = (name: string | undefined): string | undefined => {
  if (name === undefined || instanceTypeFacts(name) !== undefined) return name;
  throw usage(`--instance-type ${name}: no published instance type of that name`);
};
