import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { NAVIGATION } from '#console/shell/navigation.ts';

const OFF = 'tocsin-keys-off';
/** How long `g` waits for the letter of a place. */
const SEQUENCE_MS = 1_200;

/** Single letters get in the way of who speaks to the device, so they can be turned off (WCAG 2.1.4). */
export const areShortcutsOn = (): boolean => localStorage.getItem(OFF) === null;
export function turnShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'true');
}

type Handler = (event: KeyboardEvent) => void;

const HANDLERS = new Map<string, Handler>();

/** What a letter does while this is shown, as `a` for acknowledge. */
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

interface Letters {
  readonly onHelp: () => void;
  /** Whether something is about to lie above the page, which the document does not show yet. */
  isOpening(): boolean;
}

/**
 * `g` and a letter goes to a place, and a letter that means none does nothing; j and k move along rows; other letters
 * belong to what is shown. None acts while anything lies above the page, or is about to.
 */
export function useShortcuts({ onHelp, isOpening }: Letters): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      const { key, timeStamp } = event;
      if (key === 'Shift' || key === 'CapsLock') return;
      const isGoing = timeStamp < goUntil;
      goUntil = 0;
      if (event.ctrlKey || event.metaKey || event.altKey || !areShortcutsOn()) return;
      if (isTyping(event.target) || isOpening() || isAnythingAbove()) return;
      if (key === 'j' || key === 'k') {
        if (!isGoing) moveAlongRows(key === 'j' ? 1 : -1);
        return;
      }
      if (event.repeat) return;
      if (key === 'g') goUntil = timeStamp + SEQUENCE_MS;
      else if (isGoing) {
        const place = NAVIGATION.find((candidate) => candidate.key === key);
        if (place === undefined) return;
        event.preventDefault();
        void navigate({ to: place.to });
      } else if (key === '?') onHelp();
      else HANDLERS.get(key)?.(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, onHelp, isOpening]);
}

function isTyping(target: EventTarget | null): boolean {
  const fields = 'input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]';
  return target instanceof HTMLElement && target.matches(fields);
}

/** A dialog, a menu or a list to choose from, wherever the focus is. */
function isAnythingAbove(): boolean {
  const above = document.querySelectorAll('[role=dialog], [role=alertdialog], [role=menu], [role=listbox]');
  return [...above].some((element) => element.checkVisibility());
}

/** A row's link takes the focus, so that Enter opens it. */
function moveAlongRows(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  if (rows.length === 0) return;
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = current === -1 ? (by === 1 ? 0 : rows.length - 1) : current + by;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  row?.querySelector<HTMLElement>('[data-row-link]')?.focus();
  row?.scrollIntoView({ block: 'nearest' });
}

/** The row that has the focus. */
export function focusedRowId(): string | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? null;
}
