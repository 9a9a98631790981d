import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { PLACES } from '#console/shell/navigation.ts';

const OFF = 'tocsin-keys-off';
/** How long `g` waits for the letter of a place. */
const SEQUENCE_MS = 1_200;

/** Single letters get in the way of who speaks to the device, so they can be turned off (WCAG 2.1.4). */
export const areLettersOn = (): boolean => localStorage.getItem(OFF) === null;
export function turnLetters(on: boolean): void {
  if (on) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'true');
}

type Handler = (event: KeyboardEvent) => void;

const HANDLERS = new Map<string, Handler>();

/** What a letter does while this is shown, as `a` for acknowledge. */
export function useLetter(letter: string, handler: Handler): void {
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

/** `g` and a letter goes to a place; j and k move along rows; other letters belong to what is shown. */
export function useLetters(onHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || !areLettersOn() || isTyping(event.target)) return;
      const isGoing = performance.now() < goUntil;
      goUntil = 0;
      const place = isGoing ? PLACES.find(({ key }) => key === event.key) : undefined;
      if (place !== undefined) {
        event.preventDefault();
        void navigate({ to: place.to });
      } else if (event.key === 'g') goUntil = performance.now() + SEQUENCE_MS;
      else if (event.key === '?') onHelp();
      else if (event.key === 'j' || event.key === 'k') moveAlongRows(event.key === 'j' ? 1 : -1);
      else HANDLERS.get(event.key)?.(event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, onHelp]);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isField = target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
  return isField || target.closest('[role=dialog], [role=menu], [role=listbox]') !== null;
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
