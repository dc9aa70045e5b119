// The typed readers of validated inputs.
import { describe, expect, it } from 'vitest';
import {
  optionalBytes,
  optionalFlag,
  optionalNumber,
  optionalStructure,
  optionalText,
  structures,
  text,
  textMap,
  texts,
} from './input.ts';

const INPUT = {
  Text: 'a',
  Number: 0,
  Flag: false,
  Bytes: new Uint8Array([1]),
  Texts: ['a'],
  Structures: [{ Key: 'k' }],
  Structure: { Key: 'k' },
};

describe('a member', () => {
  it('is read as what it is', () => {
    expect(text(INPUT, 'Text')).toBe('a');
    expect(optionalNumber(INPUT, 'Number')).toBe(0);
    expect(optionalFlag(INPUT, 'Flag')).toBe(false);
    expect(optionalBytes(INPUT, 'Bytes')).toEqual(new Uint8Array([1]));
    expect(texts(INPUT, 'Texts')).toEqual(['a']);
    expect(structures(INPUT, 'Structures')).toEqual([{ Key: 'k' }]);
    expect(optionalStructure(INPUT, 'Structure')).toEqual({ Key: 'k' });
    expect(textMap(INPUT, 'Structure')).toEqual({ Key: 'k' });
  });

  it('that is absent is undefined, or empty where it is a list or map', () => {
    const optional = [optionalText, optionalNumber, optionalFlag, optionalBytes, optionalStructure];
    expect(optional.map((read) => read({}, 'X'))).toEqual(optional.map(() => undefined));
    expect([texts({}, 'X'), structures({}, 'X'), textMap({}, 'X')]).toEqual([[], [], {}]);
  });

  it.each([
    ['text', () => text({}, 'Text')],
    ['text', () => optionalText(INPUT, 'Number')],
    ['a number', () => optionalNumber(INPUT, 'Text')],
    ['a flag', () => optionalFlag(INPUT, 'Text')],
    ['bytes', () => optionalBytes(INPUT, 'Text')],
    ['a list', () => texts(INPUT, 'Text')],
    ['texts', () => texts(INPUT, 'Structures')],
    ['structures', () => structures(INPUT, 'Texts')],
    ['a structure', () => optionalStructure(INPUT, 'Bytes')],
  ])('of another kind than %s is a defect', (expected, read) => {
    expect(read).toThrow(`expected ${expected}`);
  });
});
