// A dialog over the page. Every way to leave it calls close() of the element, after which the browser
// returns the focus to where it was.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export const Dialog = ({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  /** The dialog has closed: by Esc, or by `close`. */
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}) => {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="dialog-title">
      <h2 id="dialog-title">{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
};
