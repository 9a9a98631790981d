import { ActionIcon, Button, Checkbox, Group, Text } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';

import { Choice } from '#console/components/forms/choice.tsx';
import { dutyLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/found_members.ts';
import { Name } from '#console/components/text/name.tsx';
import layerClasses from '#console/pages/oncall/layers/layer_fields.module.css';
import { type TurnDraft, withNobody, withPersonIn, withTurnMoved } from '#console/pages/oncall/layers/layers_draft.ts';
import classes from '#console/pages/oncall/people_order.module.css';

interface LayerTurnsProps {
  readonly turns: readonly TurnDraft[];
  readonly nameOf: (userId: string) => string;
  readonly error: string | undefined;
  readonly onChange: (turns: readonly TurnDraft[]) => void;
}

/** Editor of the turns of a layer, in their order. Alt and an arrow move the focused turn, Delete removes it. */
export function LayerTurns({ turns, nameOf, error, onChange }: LayerTurnsProps) {
  const [typed, setTyped] = useState('');
  const [added, setAdded] = useState(0);
  const [isTogether, setIsTogether] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  const { members: people } = useFoundMembers(typed);
  const focusRow = (index: number): void => {
    const row = Math.min(index, turns.length - 1);
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('li')[row]?.focus());
  };
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null;
    if (event.altKey && by !== null) {
      event.preventDefault();
      onChange(withTurnMoved(turns, index, by));
      focusRow(Math.max(0, index + by));
    } else if (event.key === 'Delete' && event.target === event.currentTarget) {
      event.preventDefault();
      onChange(turns.toSpliced(index, 1));
      focusRow(Math.min(index, turns.length - 2));
    }
  };
  return (
    <div role="group" aria-labelledby={id}>
      <Text id={id} size="sm" fw={500}>
        Who takes turns
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        In this order, then from the beginning. Everybody of one turn is on call at once; in a turn of nobody the layers
        below decide.
      </Text>
      {turns.length > 0 && (
        <ol className={classes.list} ref={list} aria-label="Order of turns">
          {turns.map((turn, index) => {
            const names = turn.userIds.length === 0 ? 'Nobody' : turn.userIds.map(nameOf).join(' and ');
            return (
              // The row itself takes keys, as its label says.
              // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex
              <li key={turn.key} className={classes.person} tabIndex={0} onKeyDown={(event) => onKeyDown(event, index)}>
                <span className={classes.place}>{index + 1}</span>
                <span className={layerClasses.people}>
                  <Name>{names}</Name>
                </span>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  disabled={index === 0}
                  onClick={() => onChange(withTurnMoved(turns, index, -1))}
                  aria-label={`Move ${names} up`}
                >
                  <IconArrowUp size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  disabled={index === turns.length - 1}
                  onClick={() => onChange(withTurnMoved(turns, index, 1))}
                  aria-label={`Move ${names} down`}
                >
                  <IconArrowDown size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  onClick={() => onChange(turns.toSpliced(index, 1))}
                  aria-label={`Remove the turn of ${names}`}
                >
                  <IconX size={16} />
                </ActionIcon>
              </li>
            );
          })}
        </ol>
      )}
      <Choice
        // The key makes a new field after each choice.
        key={added}
        autoFocus={added > 0}
        label="Add a person"
        isLabelHidden
        placeholder={isTogether ? 'Add a person to the last turn' : 'Add a person'}
        options={people.map(({ userId, name, role }) => ({ value: userId, label: dutyLabel(name, role) }))}
        value={null}
        onSearch={setTyped}
        onChange={(userId) => {
          if (userId === null) return;
          onChange(withPersonIn(turns, userId, isTogether));
          setTyped('');
          setAdded(added + 1);
        }}
        emptyText="Nobody has this name"
        error={error}
      />
      <Group gap="md" mt={6}>
        <Checkbox
          size="xs"
          label="To the last turn, together"
          checked={isTogether}
          disabled={turns.length === 0}
          onChange={({ currentTarget }) => setIsTogether(currentTarget.checked)}
        />
        <Button size="compact-xs" variant="subtle" onClick={() => onChange(withNobody(turns))}>
          Add a turn of nobody
        </Button>
      </Group>
    </div>
  );
}
