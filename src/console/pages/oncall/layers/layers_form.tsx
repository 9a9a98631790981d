import { Button, Checkbox, Group, Kbd, Stack, Text, TextInput } from '@mantine/core';
import { type ComponentProps, type ReactNode, useId, useState } from 'react';

import { isApiError, serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CancelButton, Form } from '#console/components/forms/form.tsx';
import { PersonColors } from '#console/components/text/person_dot.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { ZoneSelect } from '#console/components/forms/choice.tsx';
import { IconPlus } from '#console/icons.ts';
import { USUAL_HOURS, windowOf, withWindow } from '#console/pages/oncall/layers/week_hours.ts';
import { LAYERS_MAX } from '#modules/schedules/decide/layer.ts';
import { LayerFields } from '#console/pages/oncall/layers/layer_fields.tsx';
import {
  type LayersDraft,
  layersFaults,
  withChanges,
  withLayer,
  withLayerMoved,
} from '#console/pages/oncall/layers/layers_draft.ts';
import { LayersPreview } from '#console/pages/oncall/layers/layers_preview.tsx';
import classes from '#console/pages/oncall/schedule_form.module.css';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

interface LayersFormProps {
  readonly draft: LayersDraft;
  readonly onChange: (draft: LayersDraft) => void;
  readonly schedule: ShownSchedule;
  /** Notice on an earlier draft. */
  readonly notice: ReactNode;
  readonly stored: ComponentProps<typeof Form>['draft'];
  /** Content between the fields and the buttons. */
  readonly further: ReactNode;
  readonly isPending: boolean;
  readonly isBlocked: boolean;
  readonly error: unknown;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
}

/** Form with the layers of a schedule beside the bars of who is on call then, and whose shifts change. */
export function LayersForm(props: LayersFormProps) {
  const { draft, onChange, schedule, notice, stored, further, isPending, isBlocked, error, onSubmit, onCancel } = props;
  const names = useNamesOf(draft.layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds)));
  const nameOf = (userId: string) => names.nameOf(userId) ?? (names.isLoading ? '…' : 'Somebody who has left');
  const addId = useId();
  const [isChecked, setIsChecked] = useState(false);
  const [open, setOpen] = useState<number | null>(draft.layers[0]?.key ?? null);
  const [added, setAdded] = useState<number | null>(null);
  const faults = layersFaults(draft);
  const shown: Readonly<Record<string, string | undefined>> = { ...faultsOf(error), ...(isChecked ? faults : {}) };
  const isValid = Object.keys(faults).length === 0;
  const mark = (index: number, since: number, until: number): void => {
    const hours = withWindow(draft.layers[index]?.hours ?? [], windowOf(since, until, draft.timezone));
    onChange(withChanges(draft, index, { hours }));
    setOpen(draft.layers[index]?.key ?? null);
  };
  const add = (usual?: (typeof USUAL_HOURS)[number]): void => {
    const next = withLayer(draft, serverNow(), usual);
    onChange(next);
    setAdded(next.layers.at(-1)?.key ?? null);
    setOpen(next.layers.at(-1)?.key ?? null);
  };
  return (
    <PersonColors value={names.colorOf}>
      <Form
        error={error}
        draft={stored}
        className={classes.form}
        onSubmit={() => {
          setIsChecked(true);
          if (isValid && !isBlocked && !isPending) onSubmit();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
      >
        <Card>
          <Stack>
            {notice}
            <TextInput
              label="Name"
              value={draft.name}
              onChange={({ currentTarget }) => onChange({ ...draft, name: currentTarget.value })}
              error={shown['name']}
              maxLength={500}
            />
            <ZoneSelect
              description="Hours and hand-overs are at this zone's local time, also when clocks change."
              value={draft.timezone}
              onChange={(timezone) => onChange({ ...draft, timezone })}
              error={shown['timezone']}
            />
            {[...draft.layers.entries()].reverse().map(([index, layer]) => (
              <LayerFields
                key={layer.key}
                layer={layer}
                teamId={schedule.teamId}
                index={index}
                count={draft.layers.length}
                isAdded={added === layer.key}
                isOpen={open === layer.key || faultAt(shown, `layers[${index}].`) !== undefined}
                onToggle={() => setOpen(open === layer.key ? null : layer.key)}
                nameOf={nameOf}
                faultOf={(field) => faultAt(shown, `layers[${index}].${field}`)}
                onChange={(changes) => onChange(withChanges(draft, index, changes))}
                onMove={(by) => onChange(withLayerMoved(draft, index, by))}
                onRemove={() => onChange({ ...draft, layers: draft.layers.toSpliced(index, 1) })}
              />
            ))}
            <div role="group" aria-labelledby={addId}>
              <Text id={addId} size="sm" fw={500} mb={6}>
                Add a layer above
              </Text>
              <Group gap="xs">
                {[...USUAL_HOURS, undefined].map((usual) => (
                  <Button
                    key={usual?.name ?? ''}
                    size="xs"
                    variant="default"
                    leftSection={<IconPlus size={16} />}
                    disabled={draft.layers.length >= LAYERS_MAX}
                    onClick={() => add(usual)}
                  >
                    {usual?.name ?? 'Another layer'}
                  </Button>
                ))}
              </Group>
            </div>
            <Checkbox
              label="Let present turns end when they were to"
              description="Where you change people or the length of turns, whoever is on call now stays until the next hand-over."
              checked={draft.keepTurns}
              onChange={({ currentTarget }) => onChange({ ...draft, keepTurns: currentTarget.checked })}
            />
            {further}
            {error !== null && error !== undefined && (
              <ErrorAlert title="The schedule was not saved" error={error} atFields={fieldsShowing(error)} />
            )}
            <Group justify="flex-end">
              <span className={classes.hint}>
                <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
              </span>
              <CancelButton onCancel={onCancel} />
              <Button type="submit" loading={isPending} disabled={isBlocked}>
                Save
              </Button>
            </Group>
          </Stack>
        </Card>
        <LayersPreview
          draft={draft}
          schedule={schedule}
          isValid={isValid}
          nameOf={nameOf}
          onMark={mark}
          onEdge={(index, changes, { kind }) => {
            const changed = withChanges(draft, index, changes);
            // A hand-over that is moved by hand is that of the present turn.
            onChange(kind === 'hand_over' ? { ...changed, keepTurns: false } : changed);
          }}
        />
      </Form>
    </PersonColors>
  );
}

function faultAt(faults: Readonly<Record<string, string | undefined>>, path: string): string | undefined {
  return faults[path] ?? Object.entries(faults).find(([at]) => at.startsWith(path))?.[1];
}

/** Fields of a layer, each of which shows its own faults. */
const LAYER_FIELD = /^layers\[\d+\]\.(?:name|turns|rotation|startsAt|endsAt|hours|holidays)\b/;

/** Returns the fields that show the faults found by the server: an alert repeats none of them. */
function fieldsShowing(error: unknown): object {
  const faults = isApiError(error) ? error.faults : [];
  const areInLayers = faults.every(({ path }) => !path.startsWith('layers') || LAYER_FIELD.test(path));
  return { name: '', timezone: '', ...(areInLayers && { layers: [] }) };
}

/** Returns the faults found by the server, by path. */
function faultsOf(error: unknown): Readonly<Record<string, string>> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(error.faults.map(({ path, message }) => [path, `It ${message}.`]));
}
