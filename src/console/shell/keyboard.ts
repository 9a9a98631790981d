import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { useNavigation } from '#console/shell/navigation.tsx';

const OFF = 'tocsin-keys-off';
/** Time that `g` waits for the letter of a page, in milliseconds. */
const SEQUENCE_MS = 1_200;

/** Whether single-letter shortcuts are on. They disturb voice control, so people can turn them off (WCAG 2.1.4). */
export const areShortcutsEnabled = (): boolean => localStorage.getItem(OFF) === null;
export function setShortcutsEnabled(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'true');
}

type Handler = (event: KeyboardEvent) => void;

const HANDLERS = new Map<string, Handler>();

/** Binds a letter while the component is mounted, such as `a` for acknowledge. */
export function useShortcut(letter: string, handler: Handler): void {
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => {
    const call: Handler = (event) => latest.current(event);
    HANDLERS.set(letter, call);
    return () => {
      if (HANDLERS.get(letter) === call) HANDLERS.delete(letter);
    };
  }, [letter]);
}

interface Shortcuts {
  readonly onHelp: () => void;
  /** Whether a dialog or the palette is loading, before it is in the document. */
  isOpening(): boolean;
}

/**
 * Handles the shortcuts of every page. `g` and a letter opens a page; an unknown letter after `g` does nothing. `j` and
 * `k` move between rows, unless the page binds them itself. Components bind the other letters. No shortcut works while
 * a dialog, menu or list is open or loading.
 */
export function useShortcuts({ onHelp, isOpening }: Shortcuts): void {
  const navigate = useNavigate();
  const { main } = useNavigation();
  useEffect(() => {
    let goUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      const { key, timeStamp } = event;
      if (key === 'Shift' || key === 'CapsLock') return;
      const isGoing = timeStamp < goUntil;
      goUntil = 0;
      if (event.ctrlKey || event.metaKey || event.altKey || !areShortcutsEnabled()) return;
      if (isTyping(event.target) || isOpening() || isOverlayOpen()) return;
      if (key === 'j' || key === 'k') {
        const handler = HANDLERS.get(key);
        if (isGoing) return;
        if (handler === undefined) moveAlongRows(key === 'j' ? 1 : -1);
        else handler(event);
        return;
      }
      if (event.repeat) return;
      if (key === 'g') goUntil = timeStamp + SEQUENCE_MS;
      else if (isGoing) {
        const page = main.find((candidate) => candidate.key === key);
        if (page === undefined) return;
        event.preventDefault();
        void navigate({ to: page.to });
      } else if (key === '?') onHelp();
      else HANDLERS.get(key)?.(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, main, onHelp, isOpening]);
}

function isTyping(target: EventTarget | null): boolean {
  const fields = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';
  return target instanceof HTMLElement && target.matches(fields);
}

/** Whether a dialog, a menu or a list of options is open, wherever the focus is. */
function isOverlayOpen(): boolean {
  const overlays = document.querySelectorAll('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]');
  return [...overlays].some((element) => element.checkVisibility());
}

/** Most frames that a key waits for the next row of a list that renders only rows in sight, and may have to load it. */
const FRAMES_MAX = 180;

/** Focuses the link of the row, so that Enter opens it. */
function moveAlongRows(by: 1 | -1, frames = FRAMES_MAX): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  if (rows.length === 0) return;
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = current === -1 ? (by === 1 ? 0 : rows.length - 1) : current + by;
  if (frames > 0 && next === rows.length && hasRowsAfter(rows.at(-1))) {
    rows.at(-1)?.scrollIntoView({ block: 'nearest' });
    requestAnimationFrame(() => moveAlongRows(by, frames - 1));
    return;
  }
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

/** Whether the list continues after this row, the last one rendered. */
function hasRowsAfter(row: HTMLElement | undefined): boolean {
  return Number(row?.ariaPosInSet ?? 0) < Number(row?.ariaSetSize ?? 0);
}

export function focusedRowId(): string | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? null;
}
