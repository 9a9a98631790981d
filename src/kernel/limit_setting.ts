import { Type, type TInteger } from 'typebox';

import type { Setting } from '#kernel/config.ts';

/** A limit that callers can reach: a setting like any other, with the effect on callers that reach it. */
export interface LimitSetting extends Setting<TInteger> {
  /** Default as it stands in the security guide, with its unit. */
  readonly shown: string;
  /** Answer when the limit is reached, or other effect. */
  readonly reached: string;
}

interface Declared {
  readonly variable: string;
  readonly fallback: number;
  /** Unit of the default, as in `20 s`. */
  readonly unit?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const AMOUNT_MAX = 1_000_000_000;

/**
 * Declares a limit. `purpose` is Markdown, for the table of the security guide, which is made of these declarations;
 * `reached` is the answer or other effect when it is reached.
 */
export function limit(
  { variable, fallback, unit, minimum = 1, maximum = AMOUNT_MAX }: Declared,
  purpose: string,
  reached: string,
): LimitSetting {
  const number = fallback.toLocaleString('en-US');
  return {
    variable,
    purpose,
    reached,
    allowed: `a whole number from ${minimum} to ${maximum}`,
    schema: Type.Integer({ minimum, maximum }),
    fallback: String(fallback),
    shown: unit === undefined ? number : `${number} ${unit}`,
  };
}

/** Declares a limit that 0 turns off. */
export const optional = (declared: Declared, purpose: string, reached: string): LimitSetting =>
  limit({ minimum: 0, ...declared }, purpose, reached);
