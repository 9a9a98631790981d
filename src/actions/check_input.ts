import type { TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

import { type Fault, invalidInput } from '#kernel/errors.ts';
import { findFaults, findUnstorable, pathOfPointer } from '#kernel/input_faults.ts';
import { isRecord } from '#kernel/records.ts';

interface Checked {
  readonly input: TObject;
  readonly validate?: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
}

const validators = new WeakMap<object, Validator>();

/** Throws `invalid_input` with every fault. What the schema refuses is refused, also when no sentence explains it. */
export function checkInput({ input: schema, validate }: Checked, input: unknown): void {
  const validator = validators.get(schema) ?? Compile(schema);
  validators.set(schema, validator);
  const faults = [
    ...findUnstorable(input),
    ...(validator.Check(input) ? [] : shapeFaults(schema, validator, input)),
    ...(isRecord(input) ? (validate?.(input) ?? []) : []),
  ];
  if (faults.length > 0) throw invalidInput(onePerPath(faults));
}

/** Returns the faults of the shape, at least one. */
function shapeFaults(schema: TObject, validator: Validator, input: unknown): Fault[] {
  const faults = findFaults(schema, input);
  if (faults.length > 0) return faults;
  const refused = validator.Errors(input).map(({ instancePath, keyword }) => {
    return {
      path: pathOfPointer(instancePath),
      message: `is not valid: it breaks the rule "${keyword}" of its schema`,
    };
  });
  return refused.length > 0 ? refused : [{ path: '', message: 'is not valid: it does not fit its schema' }];
}

/** Keeps one fault for each path: a fault of the shape says more than one of the values. */
function onePerPath(faults: readonly Fault[]): Fault[] {
  return [...new Map(faults.toReversed().map((fault) => [fault.path, fault])).values()].toReversed();
}
