import { NativeSelect, NumberInput, Stack, TextInput } from '@mantine/core';

import type { ConfigFieldsProps } from '#console/pages/rules/config_field_props.ts';
import { configFieldsOf } from '#modules/rules/decide/rule_kinds.ts';

/** Fields of a kind of rule as its declaration lists them: a new kind needs no form of its own. */
export function DeclaredFields({ kind, config, onChange, errorOf }: ConfigFieldsProps) {
  return (
    <Stack>
      {configFieldsOf(kind).map(({ name: field, label, schema: { type, enum: choices, minimum, maximum } }) => {
        const value = config[field] ?? '';
        const common = { label, error: errorOf(field), name: field };
        if (choices !== undefined) {
          return (
            <NativeSelect
              key={field}
              {...common}
              value={String(value)}
              data={[...choices]}
              onChange={(event) => onChange({ [field]: event.currentTarget.value })}
            />
          );
        }
        if (type === 'number' || type === 'integer') {
          return (
            <NumberInput
              key={field}
              {...common}
              value={value}
              onChange={(next) => onChange({ [field]: next })}
              allowDecimal={type === 'number'}
              {...(minimum !== undefined && { min: minimum })}
              {...(maximum !== undefined && { max: maximum })}
            />
          );
        }
        return (
          <TextInput
            key={field}
            {...common}
            value={String(value)}
            onChange={(event) => onChange({ [field]: event.currentTarget.value })}
          />
        );
      })}
    </Stack>
  );
}
