import { lazy, Suspense, useState } from 'react';

import { NoteButton } from '#console/pages/incidents/note_button.tsx';
import type { NoteMenuProps } from '#console/pages/incidents/note_menu_panel.tsx';

const loadPanel = () => import('#console/pages/incidents/note_menu_panel.tsx');
const NoteMenuPanel = lazy(() => loadPanel().then((m) => ({ default: m.NoteMenuPanel })));

/** Loaded when its button is near. */
export function NoteMenu(props: NoteMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <NoteButton
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={() => void loadPanel()}
      onFocus={() => void loadPanel()}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <NoteMenuPanel {...props} />
    </Suspense>
  );
}
