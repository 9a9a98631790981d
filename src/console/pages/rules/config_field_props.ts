import type { ConfigValues } from '#console/pages/rules/rule_values.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

export interface ConfigFieldsProps {
  readonly kind: RuleKind;
  readonly serviceId: string | null;
  readonly config: ConfigValues;
  onChange(change: ConfigValues): void;
  /** Returns the fault of a field; undefined if there is none. */
  errorOf(field: string): string | undefined;
}
