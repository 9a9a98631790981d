import { Kbd, Switch, Table } from '@mantine/core';
import { Fragment, useState } from 'react';

import { Dialog } from '#console/components/dialog.tsx';
import { areShortcutsEnabled, setShortcutsEnabled } from '#console/shell/keyboard.ts';
import { useNavigation } from '#console/shell/navigation.tsx';

type Shortcut = readonly [keys: readonly string[], what: string];

const SEARCH: Shortcut = [['Ctrl', 'K'], 'Search and go anywhere'];
const ON_PAGES: readonly Shortcut[] = [
  [['j'], 'Next row'],
  [['k'], 'Previous row'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row'],
  [['a'], 'Acknowledge'],
  [['r'], 'Resolve'],
  [['Shift', 'A'], 'Select all that match'],
  [['c'], 'Declare an incident'],
  [['e'], 'Escalate the incident now, or edit the rule or the policy'],
  [['s'], 'Hand over the incident'],
  [['n'], 'Write a note, or create a rule'],
  [['/'], 'Search exceptions'],
  [['i'], 'Ignore an exception'],
  [['o'], 'Reopen an exception'],
  [['Shift', 'R'], 'Resolve an exception in the next release'],
  [['m'], 'Merge exceptions'],
  [['v'], 'Show the stack pretty or raw'],
  [['y'], 'Copy the stack'],
  [['u'], 'Undo, while the button is shown'],
  [['Ctrl', 'Z'], 'Undo a change of the dashboard'],
  [['t'], 'Today, in the on-call timeline'],
  [['←', '→', '↑', '↓'], 'Move between shifts'],
  [['?'], 'Show this help'],
];

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  const { main } = useNavigation();
  const [areOn, setAreOn] = useState(areShortcutsEnabled);
  const toPages = main.map(({ key, label }): Shortcut => [['g', key], label]);
  const turn = (on: boolean): void => {
    setShortcutsEnabled(on);
    setAreOn(on);
  };
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <Table verticalSpacing={6} aria-label="Keyboard shortcuts">
        <Table.Tbody>
          {[SEARCH, ...toPages, ...ON_PAGES].map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                {keys.map((key, index) => (
                  <Fragment key={key}>
                    {index > 0 && ' '}
                    <Kbd>{key}</Kbd>
                  </Fragment>
                ))}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        checked={areOn}
        onChange={(event) => turn(event.currentTarget.checked)}
        label="Single-letter shortcuts"
        description="Turn them off if you use voice control or press keys by accident."
      />
    </Dialog>
  );
}
