import '@mantine/spotlight/styles.layer.css';

import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';

import { useFound } from '#console/shell/palette/found.tsx';
import { readPaletteQuery } from '#console/shell/palette/palette_query.ts';
import { useCommands, usePages, useSwitches } from '#console/shell/palette/commands.tsx';

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 150;

const LABEL = 'Search people, services, incidents and everything else';

const [store, spotlight] = createSpotlight();

interface PaletteProps {
  readonly isOpen: boolean;
  /** Called on closing, and when a result was chosen. */
  readonly onClose: () => void;
}

/** Command palette: opens anything by part of its name, and begins what people often do. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  const [typed, setTyped] = useState('');
  const { text, isPutOnCall } = readPaletteQuery(typed);
  const [asked] = useDebouncedValue(text, DEBOUNCE_MS);
  const results = useFound({ text: asked, isPutOnCall }, isOpen);
  const commands = [usePages(text), useCommands(text), useSwitches(text)];
  const groups: SpotlightActionGroupData[] = isPutOnCall ? results : [...results, ...commands];
  return (
    <Spotlight
      store={store}
      title="Search"
      classNames={{ header: 'hidden-text' }}
      attributes={{ header: { role: 'presentation' } }}
      onSpotlightClose={onClose}
      shortcut={null}
      actions={groups.filter(({ actions }) => actions.length > 0)}
      // The server and the groups have matched the text already.
      filter={(_, actions) => actions}
      query={typed}
      onQueryChange={setTyped}
      nothingFound="No results"
      scrollable
      maxHeight="60vh"
      searchProps={{ leftSection: <IconSearch size={18} />, placeholder: LABEL, 'aria-label': LABEL }}
    />
  );
}
