import { type ComponentProps, type FormEvent, useEffect, useRef, useState } from 'react';

interface FormProps extends Omit<ComponentProps<'form'>, 'ref' | 'noValidate' | 'onSubmit'> {
  /** Why the server refused it; null while it has not. */
  readonly error: unknown;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
}

/** A form that says at its fields what is wrong. The first faulty one gets the focus when it is sent or refused. */
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
