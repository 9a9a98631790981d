import { UnstyledButton } from '@mantine/core';

import classes from '#console/pages/policies/policy_editor.module.css';
import { POLICY_TEMPLATES } from '#console/pages/policies/policy_templates.ts';

interface TemplatesProps {
  readonly onChoose: (index: number) => void;
  /** Whether the templates are disabled: while it is not known whom they would page. */
  readonly isDisabled?: boolean;
}

export function Templates({ onChoose, isDisabled = false }: TemplatesProps) {
  return (
    <section className={classes.templates} aria-label="Begin with">
      {POLICY_TEMPLATES.map(({ title, about }, index) => (
        <UnstyledButton
          key={title}
          className={`${classes.template} stack panel small`}
          disabled={isDisabled}
          onClick={() => onChoose(index)}
        >
          <span className={classes.templateTitle}>{title}</span>
          <span className={classes.templateAbout}>{about}</span>
        </UnstyledButton>
      ))}
    </section>
  );
}
