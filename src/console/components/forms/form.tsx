import { Button, Group } from '@mantine/core';
import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react';

import { ApiError, isApiError } from '#console/api/http.ts';

interface FormProps extends Omit<ComponentProps<'form'>, 'ref' | 'noValidate' | 'onSubmit'> {
  /** Error of the server's refusal; null if there is none. */
  readonly error: unknown;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/**
 * Form that shows faults at its fields and never leaves the page. The first faulty field gets the focus when the form
 * is sent or refused.
 */
export function Form({ error, onSubmit, ...others }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [sent, setSent] = useState(0);
  useEffect(() => {
    if (sent === 0) return;
    // A part of the form may bring a form of its own (`Confirm` above a card).
    const faulty = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    if (faulty?.closest('form') === form.current) faulty?.focus();
  }, [sent, error]);
  return (
    <form
      {...others}
      noValidate
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        setSent((count) => count + 1);
        onSubmit(event);
      }}
    />
  );
}

type Fault = ApiError['faults'][number];

/** Returns the faults found by the server, by the field of the form: for `form.setErrors`. */
export function faultsAtFields(error: unknown, values: object): Record<string, string> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.flatMap((fault) => (isOf(values, fault) ? [[fieldOf(fault), sentence(fault.message)]] : [])),
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

/** Whether a fault belongs to one of the values. `values` may name a nested field, such as `target.serviceId`. */
function isOf(values: object, fault: Fault): boolean {
  const [whole = ''] = fault.path.split('[');
  return Object.hasOwn(values, whole) || Object.hasOwn(values, fieldOf(fault));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface SubmitButtonsProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  /** Draft of the form: nothing is sent while it has conflicts, and Cancel discards it. */
  readonly draft?: { readonly conflicts: readonly unknown[]; readonly startOver: () => void };
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** Buttons at the end of the form of a dialog. */
export function SubmitButtons({
  label,
  isPending,
  isDisabled = false,
  draft,
  cancel = 'Cancel',
  onCancel,
}: SubmitButtonsProps) {
  const hasConflicts = draft !== undefined && draft.conflicts.length > 0;
  const discard = (): void => {
    draft?.startOver();
    onCancel();
  };
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={discard}>
        {cancel}
      </Button>
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
