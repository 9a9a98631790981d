import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react';

interface FormProps extends Omit<ComponentProps<'form'>, 'ref' | 'noValidate' | 'onSubmit'> {
  /** Error of the server's refusal; null if there is none. */
  readonly error: unknown;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/** Form that shows faults at its fields. The first faulty field gets the focus when the form is sent or refused. */
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
        setSent((count) => count + 1);
        onSubmit(event);
      }}
    />
  );
}
