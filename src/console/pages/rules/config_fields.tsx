import type { ComponentType } from 'react';

import { DeclaredFields } from '#console/pages/rules/declared_fields.tsx';
import { MetricFields } from '#console/pages/rules/metric_fields.tsx';
import type { ConfigFieldsProps } from '#console/pages/rules/config_field_props.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';

/** Forms of the kinds that have their own. */
const OWN_FIELDS: Readonly<Partial<Record<RuleKind, ComponentType<ConfigFieldsProps>>>> = {
  metric_threshold: MetricFields,
};

/** Fields that a kind of rule has beyond those of every rule. */
export function ConfigFields(props: ConfigFieldsProps) {
  const Fields = OWN_FIELDS[props.kind] ?? DeclaredFields;
  return <Fields {...props} />;
}
