import { describe, expect, it } from 'vitest';
import { parseTemplateText } from './cloudformation-template.ts';

/** A CloudFormation placeholder, not a JavaScript one. */
const stackName = ['$', '{AWS::StackName}'].join('');

describe('the text of a CloudFormation template', () => {
  it('is read from JSON as it stands', () => {
    expect(parseTemplateText('{"Resources": {"A": {"Type": "T"}}}')).toEqual({
      Resources: { A: { Type: 'T' } },
    });
  });

  it('is read from YAML with the short forms written out', () => {
    const text = [
      'AWSTemplateFormatVersion: 2010-09-09',
      'Resources:',
      '  A:',
      '    Type: T',
      '    Condition: Wanted',
      '    Properties:',
      '      Role: !GetAtt Role.Arn',
      `      Name: !Sub "${stackName}-x"`,
      '      Subnets: !Split [",", !ImportValue "c::Subnets"]',
      '      Port: 10250',
      '      Off: !If [Wanted, !Ref "AWS::NoValue", false]',
    ].join('\n');
    expect(parseTemplateText(text)).toEqual({
      AWSTemplateFormatVersion: '2010-09-09',
      Resources: {
        A: {
          Type: 'T',
          Condition: 'Wanted',
          Properties: {
            Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
            Name: { 'Fn::Sub': `${stackName}-x` },
            Subnets: { 'Fn::Split': [',', { 'Fn::ImportValue': 'c::Subnets' }] },
            Port: 10250,
            Off: { 'Fn::If': ['Wanted', { Ref: 'AWS::NoValue' }, false] },
          },
        },
      },
    });
  });

  it('says where it is no JSON or YAML', () => {
    expect(() => parseTemplateText('{"Resources": ')).toThrow(/JSON not well-formed/);
    expect(() => parseTemplateText('a: [1\nb: 2')).toThrow(/YAML not well-formed.*line/);
    expect(() => parseTemplateText('just words')).toThrow('unsupported structure');
  });
});
