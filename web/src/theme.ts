// Dark or light: the system's setting, until the user chooses. Stored in this browser only.
const key = 'drover-theme';

const isDark = (): boolean => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : chosen === 'dark';
};

export const restoreTheme = (): void => {
  try {
    const chosen = localStorage.getItem(key);
    if (chosen !== null) document.documentElement.dataset.theme = chosen;
  } catch {
    // The browser forbids storage: the system's setting applies.
  }
};

export const toggleTheme = (): void => {
  const chosen = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // The browser forbids storage: the choice lasts until a reload.
  }
};
