import { Button, Group, NativeSelect, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import type { MoveIn } from '#console/pages/move_in/report_card.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { TOOL_NAMES, TOOL_SOURCES, type ToolName } from '#modules/moving_in/decide/tool_names.ts';
import { PART_LENGTH_MAX } from '#modules/moving_in/decide/upload_limits.ts';
import classes from '#console/pages/move_in/move_in.module.css';

type Way = 'key' | 'files';

/** Card in which a tool is chosen, and a key or files are given; of a move that failed, another key. */
export function BeginCard({ moveIn, onBegun }: { readonly moveIn: MoveIn | null; readonly onBegun: () => void }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const [chosen, setChosen] = useState<ToolName>('pagerduty');
  const [way, setWay] = useState<Way>('key');
  const [key, setKey] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const [files, setFiles] = useState<readonly File[]>([]);
  const [sent, setSent] = useState<string | null>(null);
  const tool = (moveIn?.tool as ToolName | undefined) ?? chosen;
  const source = TOOL_SOURCES[tool];
  const isByKey = source.key !== null && way === 'key';
  const beginning = useMutation({
    async mutationFn() {
      const { moveInId } = moveIn ?? (await invoke(org.orgId, 'create_move_in', { tool }));
      if (isByKey) {
        const address = baseUrl.trim();
        await invoke(org.orgId, 'read_move_in', { moveInId, key, ...(address !== '' && { baseUrl: address }) });
        return;
      }
      for (const [index, file] of files.entries()) {
        setSent(`${index + 1} of ${files.length} files`);
        const name = (file.webkitRelativePath || file.name).slice(-300);
        for (const [part, text] of partsOf(await file.text()).entries())
          await invoke(org.orgId, 'add_move_in_file', { moveInId, name, part, text });
      }
      await invoke(org.orgId, 'read_move_in', { moveInId });
    },
    onSuccess: onBegun,
    async onSettled() {
      setKey('');
      setSent(null);
      await refresh('settings');
    },
  });
  const faults = faultsAtFields(beginning.error, { key, baseUrl });
  return (
    <Card title={moveIn === null ? 'What to read' : 'Read again'}>
      <Form error={beginning.error} onSubmit={() => beginning.mutate()}>
        <Stack gap="sm">
          {moveIn === null && (
            <NativeSelect
              label="Tool"
              data={TOOL_NAMES.map((value) => ({ value, label: TOOL_SOURCES[value].title }))}
              value={chosen}
              onChange={({ currentTarget: { value } }) => {
                setChosen(TOOL_NAMES.find((name) => name === value) ?? 'pagerduty');
                setFiles([]);
              }}
            />
          )}
          {source.key !== null && (
            <SegmentedControl
              aria-label="How to read"
              data={[
                { value: 'key', label: 'With a key' },
                { value: 'files', label: 'From files' },
              ]}
              value={way}
              onChange={(value) => setWay(value === 'files' ? 'files' : 'key')}
            />
          )}
          {isByKey ? (
            <>
              <PasswordInput
                label={source.key}
                description="It only has to read. It is used for this reading and stored nowhere."
                required
                autoComplete="off"
                error={faults['key']}
                value={key}
                onChange={(event) => setKey(event.currentTarget.value)}
              />
              <TextInput
                label="Address"
                description={source.address === null ? undefined : 'Where it is not the usual one'}
                placeholder={source.address ?? 'https://'}
                required={source.address === null}
                autoComplete="off"
                error={faults['baseUrl']}
                value={baseUrl}
                onChange={(event) => setBaseUrl(event.currentTarget.value)}
              />
            </>
          ) : (
            <FileFields files={files} onFiles={setFiles} />
          )}
          {sent !== null && (
            <Text size="sm" role="status">
              {sent}
            </Text>
          )}
          {beginning.isError && (
            <ErrorAlert title="Reading has not begun" error={beginning.error} atFields={{ key, baseUrl }} />
          )}
          <Group>
            <Button type="submit" loading={beginning.isPending} disabled={!isByKey && files.length === 0}>
              {moveIn === null ? 'Read' : 'Read again'}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Card>
  );
}

interface FileFieldsProps {
  readonly files: readonly File[];
  readonly onFiles: (files: readonly File[]) => void;
}

const READ = /\.(json|ya?ml|ics|rules|prom)$/i;

/** Fields for single files and for a folder, such as a backup. */
function FileFields({ files, onFiles }: FileFieldsProps) {
  const add = (list: FileList | null): void => onFiles([...(list ?? [])].filter(({ name }) => READ.test(name)));
  return (
    <Stack gap="xs">
      <label>
        <Text size="sm" fw={500} component="span">
          Files
        </Text>
        <input
          type="file"
          className={classes.file}
          multiple
          accept=".json,.yaml,.yml,.ics,.rules,.prom"
          onChange={(event) => add(event.currentTarget.files)}
        />
      </label>
      <label>
        <Text size="sm" fw={500} component="span">
          Or a folder
        </Text>
        <input
          type="file"
          className={classes.file}
          {...{ webkitdirectory: '' }}
          onChange={(event) => add(event.currentTarget.files)}
        />
      </label>
      <Text size="sm" c="dimmed">
        {files.length === 0
          ? 'JSON, YAML or iCal, up to 64 MB.'
          : `${files.length.toLocaleString()} ${files.length === 1 ? 'file' : 'files'} chosen.`}
      </Text>
    </Stack>
  );
}

/** Returns a text in parts that one request takes; none of them ends within a character of two units. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length || parts.length === 0;) {
    let end = Math.min(text.length, at + PART_LENGTH_MAX);
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1)) && end < text.length) end -= 1;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
