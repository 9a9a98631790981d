import { Button, Group } from '@mantine/core';
import { type ComponentProps, createContext, type FormEvent, use, useEffect, useRef, useState } from 'react';

import { ApiError, isApiError } from '#console/api/http.ts';
import { AskBeforeLeaving } from '#console/components/dialog.tsx';
import { askThen } from '#console/components/leaving.ts';

interface FormProps extends Omit<ComponentProps<'form'>, 'ref' | 'noValidate' | 'onSubmit'> {
  /** Error of the server's refusal; null if there is none. */
  readonly error: unknown;
  /** Draft that keeps the input. Without one, the person is asked before the input is lost. */
  readonly draft?: FormDraft | undefined;
  /** Whether it takes one moment to fill in again, as at sign-in: leaving never asks. */
  readonly isQuick?: boolean;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/** The part of a `Draft` that the frame of a form needs. */
interface FormDraft {
  readonly conflicts: readonly unknown[];
  readonly isChanged: boolean;
  readonly isStored: boolean;
  readonly discard: () => void;
}

const Unsent = createContext<{ readonly draft: FormDraft | undefined; readonly isTyped: boolean }>({
  draft: undefined,
  isTyped: false,
});

/**
 * Form that shows faults at its fields and never leaves the page. The first faulty field gets the focus when the form
 * is sent or refused. Nothing that was typed is lost without a question: a draft keeps it, or leaving asks.
 */
export function Form({ error, draft, isQuick = false, onSubmit, children, ...others }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [sent, setSent] = useState(0);
  const [isTyped, setIsTyped] = useState(false);
  useEffect(() => {
    if (sent === 0) return;
    // A part of the form may bring a form of its own (`Confirm` above a card).
    const faulty = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    const isFaulty = faulty?.closest('form') === form.current;
    if (isFaulty) faulty?.focus();
    setIsTyped(isFaulty || (error !== null && error !== undefined));
  }, [sent, error]);
  const isLost = draft === undefined ? isTyped && !isQuick : draft.isChanged && !draft.isStored;
  return (
    <form
      {...others}
      noValidate
      ref={form}
      onInput={({ target, currentTarget }) => {
        if (target instanceof Element && target.closest('form') === currentTarget) setIsTyped(true);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        setSent((count) => count + 1);
        onSubmit(event);
      }}
    >
      <Unsent value={{ draft, isTyped }}>{children}</Unsent>
      {isLost && <AskBeforeLeaving loss="input" />}
    </form>
  );
}

interface CancelButtonProps {
  readonly size?: 'sm';
  readonly onCancel: () => void;
  readonly children?: string;
}

/** Button in a form that drops its input, after a question if there is any, and its draft. */
export function CancelButton({ onCancel, children = 'Cancel', ...look }: CancelButtonProps) {
  const { draft, isTyped } = use(Unsent);
  const cancel = (): void => {
    draft?.discard();
    onCancel();
  };
  return (
    <Button
      {...look}
      variant="default"
      onClick={() => askThen((draft?.isChanged ?? isTyped) ? 'input' : undefined, cancel)}
    >
      {children}
    </Button>
  );
}

type Fault = ApiError['faults'][number];

/**
 * Returns the faults found by the server, by the field of the form: for `form.setErrors`. A key of `values` may be the
 * whole path of a nested field, such as `rules[0].tag`.
 */
export function faultsAtFields(error: unknown, values: object): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.flatMap((fault) => (isOf(values, fault) ? [[keyOf(values, fault), sentence(fault.message)]] : [])),
  );
}

/** Returns the part of the error that no field of the form shows; null if the fields show all of it. */
export function errorBesideFields(error: unknown, values: object): unknown {
  if (!isApiError(error) || error.faults.length === 0) return error;
  const faults = error.faults.filter((fault) => !isOf(values, fault));
  if (faults.length === 0) return null;
  const { status, code, message, requestId, retryAfterSeconds } = error;
  return new ApiError({ status, code, message, faults, requestId, retryAfterSeconds });
}

function fieldOf({ path }: Fault): string {
  return path.split(/[.[]/)[0] ?? '';
}

function keyOf(values: object, fault: Fault): string {
  return Object.hasOwn(values, fault.path) ? fault.path : fieldOf(fault);
}

/** Whether a fault belongs to one of the values. `values` may name a nested field, such as `target.serviceId`. */
function isOf(values: object, fault: Fault): boolean {
  const [whole = ''] = fault.path.split('[');
  return Object.hasOwn(values, whole) || Object.hasOwn(values, keyOf(values, fault));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface SubmitButtonsProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** Buttons at the end of a form. Nothing is sent while its draft has conflicts. */
export function SubmitButtons({
  label,
  isPending,
  isDisabled = false,
  cancel = 'Cancel',
  onCancel,
}: SubmitButtonsProps) {
  const hasConflicts = (use(Unsent).draft?.conflicts.length ?? 0) > 0;
  return (
    <Group justify="flex-end">
      <CancelButton onCancel={onCancel}>{cancel}</CancelButton>
      <Button type="submit" loading={isPending} disabled={isDisabled || hasConflicts}>
        {label}
      </Button>
    </Group>
  );
}

const BYTES = 16;

/**
 * Returns an idempotency key for one request, so that the server carries it out once however often it arrives. Works
 * over plain HTTP, too.
 */
export function newRequestKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
