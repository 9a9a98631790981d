import { NativeSelect, Textarea, TextInput } from '@mantine/core';

import type { SettingFieldsProps } from '#console/pages/rules/settings/setting_fields.tsx';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { DESCRIPTION_LENGTH_MAX } from '#modules/rules/decide/kind_settings.ts';
import { hasSetting } from '#modules/rules/decide/rule_settings.ts';

/** Fields of a rule for whoever is paged by it: how severe its incidents are, what they mean and what to do. */
export function GuidanceFields({ kind, values, onChange, errorOf }: SettingFieldsProps) {
  return (
    <>
      {hasSetting(kind, 'severity') && (
        <NativeSelect
          label="Severity of its incidents"
          value={String(values.severity)}
          onChange={(event) => onChange({ severity: event.currentTarget.value })}
          data={[...LEVELS]}
          error={errorOf('severity')}
        />
      )}
      <Textarea
        label="What it means"
        description="For whoever is paged: on the page of the incident, and in mail and push. Markdown works."
        placeholder="Customers wait at the till. Look at the database first."
        autosize
        minRows={2}
        maxRows={10}
        maxLength={DESCRIPTION_LENGTH_MAX}
        value={String(values.description)}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        error={errorOf('description')}
      />
      <TextInput
        label="Runbook"
        type="url"
        placeholder="https://wiki.example.com/runbooks/checkout"
        value={String(values.runbookUrl)}
        onChange={(event) => onChange({ runbookUrl: event.currentTarget.value })}
        spellCheck={false}
        autoCapitalize="none"
        error={errorOf('runbookUrl')}
      />
    </>
  );
}
