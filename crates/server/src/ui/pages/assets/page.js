/**
 * Makes the server's pages quicker to use: they check as one types, and result and form point at one
 * another. Every page does its work without this script, and no rule about values is in it.
 */

const CHECK_AFTER = 300;
const BUSY_AFTER = 150;
const RETRY_AFTER = 5000;
const SEARCH_AFTER = 200;
const MANY_FIELDS = 30;
const MANY_OBJECTS = 3;

const root = document.documentElement;
const main = document.querySelector("main");
const form = document.getElementById("form");
const output = document.getElementById("output");
const status = document.getElementById("status");

root.classList.add("js");
startTheme();
startCopying();
startList();
startDrop();
if (form && output) {
  startForm();
}

// --- small helpers

/** An element with properties, attributes (`data-…`, `aria-…`) and children. */
function make(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-")) {
      made.setAttribute(key, value);
    } else {
      made[key] = value;
    }
  }
  made.append(...children);
  return made;
}

/** A button that does something without sending the form. */
function button(className, text, action, attributes = {}) {
  const made = make("button", { type: "button", className, ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

/** The function, called once `wait` milliseconds after the last of several calls. */
function later(wait, action) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  };
}

/** The function, called at most once a frame. */
function onceAFrame(action) {
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        action();
      });
    }
  };
}

/** A message as nodes: what is between backticks is code. */
function words(message) {
  return message.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}

function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

function say(text, state = "") {
  if (status) {
    status.className = state;
    status.replaceChildren(...[text].flat());
  }
}

// --- light and dark

function startTheme() {
  const bar = document.querySelector(".bar");
  const signs = { system: "◐", light: "☀", dark: "☾" };
  const names = Object.keys(signs);
  const now = () => root.dataset.theme ?? "system";
  const toggle = button("theme", "", () => {
    const next = names[(names.indexOf(now()) + 1) % names.length];
    if (next === "system") {
      delete root.dataset.theme;
    } else {
      root.dataset.theme = next;
    }
    const age = next === "system" ? 0 : 31536000;
    document.cookie = `krm-theme=${next}; path=/ui; max-age=${age}; samesite=strict`;
    show();
  });
  const show = () => {
    toggle.textContent = signs[now()];
    toggle.title = `Theme: ${now()}`;
    toggle.setAttribute("aria-label", toggle.title);
  };
  show();
  bar?.append(toggle);
}

// --- copying

function showCopies() {
  document.querySelectorAll(".copy[hidden]").forEach((copy) => {
    copy.hidden = false;
  });
}

function startCopying() {
  showCopies();
  document.addEventListener("click", async ({ target }) => {
    const pressed = target.closest?.(".copy");
    if (!pressed) {
      return;
    }
    const source = pressed.dataset.copy
      ? document.getElementById(pressed.dataset.copy)
      : pressed.closest(".object")?.querySelector("pre");
    if (await copied(source)) {
      const label = pressed.textContent;
      pressed.textContent = "Copied";
      pressed.disabled = true;
      setTimeout(() => {
        pressed.textContent = label;
        pressed.disabled = false;
      }, 1500);
    }
  });
}

async function copied(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // Over plain HTTP from another machine there is no clipboard: select the text instead.
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

// --- the list

function startList() {
  const find = document.querySelector("form.find");
  const query = find?.elements.q;
  if (!query || !document.getElementById("list")) {
    return;
  }
  let asked;
  const search = async () => {
    const address = new URL(location.href);
    address.searchParams.delete("continue");
    address.searchParams.set("q", query.value);
    if (!query.value) {
      address.searchParams.delete("q");
    }
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(address, { signal: asked.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const list = page.getElementById("list");
      if (list) {
        document.getElementById("list").replaceChildren(...list.childNodes);
        document.querySelector(".tags.filter")?.replaceWith(page.querySelector(".tags.filter") ?? "");
        history.replaceState(null, "", address);
        showCopies();
      } else {
        location.assign(address);
      }
    } catch (error) {
      if (error.name !== "AbortError") {
        document.querySelector("#list > .count").textContent = "not searched: the server does not answer";
      }
    }
  };
  query.addEventListener("input", later(SEARCH_AFTER, search));
}

// --- dropped files

/** The list opens a Template that is dropped on it, the upload chooses it. */
function startDrop() {
  const input = document.querySelector("form.drop input[type=file]");
  if (!input && document.body.dataset.page !== "list") {
    return;
  }
  const text = input ? "Drop the file to choose it" : "Drop a Template to open its form. The server does not store it.";
  const sign = make("p", { className: "dropping", hidden: true }, text);
  main.append(sign);
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) {
      event.preventDefault();
      sign.hidden = false;
    }
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    sign.hidden ||= relatedTarget === null;
  });
  document.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (!file) {
      return;
    }
    event.preventDefault();
    sign.hidden = true;
    const files = new DataTransfer();
    files.items.add(file);
    if (input) {
      input.files = files.files;
      input.focus();
    } else {
      openUpload(files.files);
    }
  });
}

/** Sends a file as the upload does, without asking that it be stored. */
function openUpload(files) {
  const namespace = make("input", { name: "namespace", value: document.getElementById("namespace").value });
  const file = make("input", { type: "file", name: "file", files });
  const upload = { method: "post", enctype: "multipart/form-data", action: "/ui/upload", hidden: true };
  const sender = make("form", upload, namespace, file);
  main.append(sender);
  sender.submit();
}

// --- the form

function startForm() {
  const fields = new Map([...form.querySelectorAll(".field")].map((field) => [field.dataset.parameter, field]));
  const memory = remembered();
  const checks = checking(fields, memory);
  for (const field of fields.values()) {
    prepareField(field, checks);
  }
  const view = startSwitch();
  startFinder(fields, memory);
  startFolds(memory);
  startLinks(fields, view);
  startPane();
  memory.restore(checks);
  dress(memory);
  form.addEventListener("input", ({ target }) => checks.typed(target));
  form.addEventListener("change", ({ target }) => checks.left(target));
  form.addEventListener("focusout", ({ target }) => checks.left(target));
  document.addEventListener("submit", (event) => {
    if (event.target === form) {
      checks.submitted(event);
    }
  });
  addEventListener("online", checks.soon);
  addEventListener("pageshow", (event) => event.persisted && checks.soon());
  document.getElementById("summary")?.focus();
  checks.first();
}

function controls(field) {
  return [...field.querySelectorAll("input, select, textarea")].filter((control) => control.name.startsWith("p."));
}

/** The address of a field's control on this page. */
function addressOf(field) {
  return `#${encodeURIComponent(controls(field)[0]?.id ?? field.id)}`;
}

/** What a field would send. */
function sent(field) {
  const [first, ...others] = controls(field);
  if (!first) {
    return "";
  }
  if (first.type === "radio" || first.type === "checkbox") {
    return [first, ...others].find((control) => control.checked)?.value ?? "";
  }
  return first.value;
}

function put(field, value) {
  for (const control of controls(field)) {
    if (control.type === "radio" || control.type === "checkbox") {
      control.checked = control.value === value;
    } else if (value.includes("\n") && control.localName === "input") {
      withLines(control).value = value;
    } else {
      control.value = value;
    }
  }
}

function isSecret(field) {
  return "masked" in field.dataset || "secret" in field.dataset;
}

/** Opens what a control is folded in, scrolls to it and gives it the focus. */
function reach(control) {
  for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  control.focus({ preventScroll: true });
  (control.closest(".field") ?? control).scrollIntoView({ block: "nearest" });
}

/** Adds what a field has with the script only: the way back to its default, a secret shown. */
function prepareField(field, checks) {
  const name = field.dataset.parameter;
  takeLines(field);
  if ("masked" in field.dataset) {
    addShow(field);
  }
  if (field.dataset.default === undefined || isSecret(field)) {
    return;
  }
  const reset = button(
    "plain",
    "reset",
    () => {
      put(field, field.dataset.default);
      controls(field)[0]?.focus();
      checks.typed(controls(field)[0]);
    },
    { "aria-label": `Reset ${name} to its default`, title: `Reset to ${field.dataset.default || "nothing"}` },
  );
  const mark = make("span", { className: "mark changed", hidden: true }, "changed ", reset);
  const head = field.querySelector(":scope > legend") ?? field;
  const before = [...head.querySelectorAll(":scope > :is(.parameter, .mark)")].at(-1);
  if (before) {
    before.after(mark);
  } else {
    head.querySelector("label")?.after(mark);
  }
}

function showChanged(field) {
  const mark = field.querySelector(".changed");
  if (mark) {
    mark.hidden = sent(field) === field.dataset.default;
  }
}

/** Puts messages at a field, or takes them away. */
function putMessages(field, messages) {
  const error = field.querySelector(".error");
  if (!error) {
    return;
  }
  const text = messages.join("\n");
  if (error.textContent !== text.replaceAll("`", "")) {
    error.replaceChildren(...(text ? [make("span", {}, ...words(text))] : []));
  }
  error.hidden = !text;
  for (const control of controls(field)) {
    if (text) {
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-errormessage", error.id);
    } else {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-errormessage");
    }
  }
}

// --- checking as one types

/** Sends the form to the server, and shows what it says about it. */
function checking(fields, memory) {
  const touched = new Set();
  const soon = later(CHECK_AFTER, () => send("check"));
  let asked;
  let again;
  let latest = { errors: [], form: [] };
  let shown = "";

  const fieldOf = (control) => control?.closest?.(".field");

  /** Asks the server. Returns its answer, or nothing if there is none; that is said. */
  async function send(action) {
    clearTimeout(again);
    asked?.abort();
    const mine = (asked = new AbortController());
    const busy = setTimeout(() => say("checking", "busy"), BUSY_AFTER);
    try {
      const data = new FormData(form);
      data.set("action", action);
      // Not `form.action`: the buttons have that name.
      const body = form.enctype === "multipart/form-data" ? data : new URLSearchParams(data);
      const headers = { Accept: "application/json" };
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body, headers, signal: mine.signal });
      const said = await answer.json();
      if (answer.ok || answer.status === 422) {
        return apply(said, action !== "check");
      }
      refused(answer.status, said);
    } catch (error) {
      if (error.name !== "AbortError") {
        say("not checked: the server does not answer; what you typed is kept", "away");
        again = setTimeout(() => send("check"), RETRY_AFTER);
      }
    } finally {
      clearTimeout(busy);
    }
    return undefined;
  }

  function refused(code, said) {
    if (code === 401) {
      const link = make("a", { href: said.login ?? "/ui/login" }, "log in again");
      // Sent as without scripts: the page of the login then keeps secrets and files as well.
      link.addEventListener("click", (event) => {
        event.preventDefault();
        form.submit();
      });
      say(["not checked: the login has expired; what you typed is kept: ", link], "away");
      return;
    }
    say(["not checked: ", ...words(said.message ?? `the server answered with ${code}`)], "away");
    if (code === 429 || code >= 500) {
      again = setTimeout(() => send("check"), RETRY_AFTER);
    }
  }

  function apply(said, all) {
    const order = [...fields.keys()];
    const place = ({ parameter }) => order.indexOf(parameter);
    const errors = (said.errors ?? []).toSorted((one, other) => place(one) - place(other));
    latest = { errors, form: said.form ?? [] };
    if (all) {
      latest.errors.forEach(({ parameter }) => touched.add(parameter));
    }
    showMessages();
    if (!latest.errors.length && !latest.form.length) {
      document.getElementById("summary")?.remove();
    }
    // The same result again needs no new elements.
    const isSame = said.result && said.result === shown && !output.classList.contains("stale");
    showResult(said.result, latest, fields, memory, isSame);
    shown = said.result || shown;
    return latest;
  }

  function showMessages() {
    const messages = new Map();
    for (const { parameter, message } of latest.errors) {
      messages.set(parameter, [...(messages.get(parameter) ?? []), message]);
    }
    for (const [name, field] of fields) {
      putMessages(field, touched.has(name) ? (messages.get(name) ?? []) : []);
    }
  }

  /** The list of what is wrong, first on the page, with the focus. */
  function summarize() {
    document.getElementById("summary")?.remove();
    const unknown = latest.errors.filter(({ parameter }) => !fields.has(parameter));
    const known = latest.errors.filter(({ parameter }) => fields.has(parameter));
    const items = known.map(({ parameter, message }) => {
      const link = make("a", { href: addressOf(fields.get(parameter)) }, ...words(message));
      return make("li", {}, link);
    });
    const others = [...latest.form, ...unknown.map(({ message }) => message)];
    items.unshift(...others.map((message) => make("li", {}, ...words(message))));
    if (!items.length) {
      return;
    }
    const heading = make("h2", {}, known.length ? `${counted(known.length, "value")} to correct` : "No result");
    const summary = make("div", { className: "summary", id: "summary", role: "alert", tabIndex: -1 }, heading, make("ul", {}, ...items));
    main.prepend(summary);
    summary.focus();
    summary.scrollIntoView({ block: "nearest" });
  }

  // Links of the summary and of the list of missing values.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.(".summary a, .needs a");
    const control = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (control) {
      event.preventDefault();
      main.classList.remove("results");
      document.dispatchEvent(new Event("viewchange"));
      reach(control);
    }
  });

  return {
    soon,
    first() {
      for (const field of fields.values()) {
        showChanged(field);
        if (field.querySelector("[aria-invalid=true]")) {
          touched.add(field.dataset.parameter);
        }
      }
      if (document.body.dataset.page === "form" || touched.size) {
        send("check");
      }
    },
    touch: (name) => touched.add(name),
    typed(control) {
      const field = fieldOf(control);
      if (field) {
        showChanged(field);
        if (control.type === "radio" || control.type === "checkbox") {
          touched.add(field.dataset.parameter);
        }
      }
      memory.save();
      soon();
    },
    /** A message is shown once its field was left, not with the first letter. */
    left(control) {
      const field = fieldOf(control);
      if (field && (sent(field) || touched.has(field.dataset.parameter) || control.dataset.typed)) {
        touched.add(field.dataset.parameter);
        showMessages();
      }
    },
    async submitted(event) {
      const action = event.submitter?.value ?? "show";
      if (event.defaultPrevented || (action === "download" && form.dataset.checked)) {
        delete form.dataset.checked;
        return;
      }
      event.preventDefault();
      const submitter = event.submitter;
      const said = await send(action === "download" ? "check" : action);
      if (!said) {
        return;
      }
      if (said.errors.length || said.form.length) {
        latest.errors.forEach(({ parameter }) => touched.add(parameter));
        showMessages();
        main.classList.remove("results");
        document.dispatchEvent(new Event("viewchange"));
        summarize();
        return;
      }
      if (action === "download") {
        form.dataset.checked = "yes";
        form.requestSubmit(submitter);
      } else {
        main.classList.add("results");
        document.dispatchEvent(new Event("viewchange"));
        const heading = output.querySelector("h2");
        heading.tabIndex = -1;
        heading.focus({ preventScroll: !narrow() });
      }
    },
  };
}

function narrow() {
  return matchMedia("(max-width: 1023px)").matches;
}

// --- the result

/** Shows a new result, or why there is none; what was open stays open. */
function showResult(html, { errors, form: general }, fields, memory, isSame) {
  const wrong = errors.length + general.length;
  if (html && !isSame) {
    const kept = looks();
    const focused = output.contains(document.activeElement);
    const page = new DOMParser().parseFromString(html, "text/html");
    output.replaceChildren(...page.body.childNodes);
    kept();
    dress(memory);
    if (focused) {
      const heading = output.querySelector("h2");
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    }
  } else if (!html && wrong && !output.querySelector(".object")) {
    showNeeds(errors, general, fields);
  }
  const isStale = !html && wrong > 0 && output.querySelector(".object") !== null;
  output.classList.toggle("stale", isStale);
  const count = output.querySelector(".head .count");
  if (isStale && count && !count.dataset.before) {
    count.dataset.before = count.textContent;
    count.textContent = `${count.textContent}, of the values before`;
  }
  const objects = counted(output.querySelectorAll(".object").length, "object");
  if (!wrong) {
    say(`checked: ${objects}`, "good");
  } else if (errors.length) {
    const missing = errors.filter(({ parameter }) => fields.has(parameter) && !sent(fields.get(parameter))).length;
    const bad = errors.length - missing;
    const parts = [missing && `${counted(missing, "value")} missing`, bad && `${counted(bad, "value")} wrong`];
    say(parts.filter(Boolean).join(", "));
  } else {
    say(words(general[0]), "away");
  }
  const [values, result] = document.querySelectorAll(".switch button");
  if (values) {
    values.textContent = errors.length ? `Values: ${errors.length} to correct` : "Values";
    result.textContent = html ? `Result: ${objects}` : "Result";
  }
}

function showNeeds(errors, general, fields) {
  const items = errors.map(({ parameter }) => {
    const field = fields.get(parameter);
    const label = field?.querySelector("label, legend")?.firstChild?.textContent.trim();
    return make("li", {}, field ? make("a", { href: addressOf(field) }, label || parameter) : parameter);
  });
  const text = items.length ? "The objects appear here once these values are right:" : "There are no objects to show:";
  const box = make("div", { className: "needs" }, make("p", {}, text));
  const list = [...items, ...general.map((message) => make("li", {}, ...words(message)))];
  box.append(make("ul", {}, ...list));
  const head = make("div", { className: "head" }, make("h2", {}, "Result"));
  output.replaceChildren(make("section", { className: "result empty", id: "result" }, head, box));
}

/** Remembers what is open and where it is scrolled to. Returns a function that makes it so again. */
function looks() {
  const title = (object) => object.querySelector("summary")?.textContent;
  const closed = new Set([...output.querySelectorAll(".object:not([open])")].map(title));
  const places = ["#result .objects", "#template"].map((at) => [at, output.querySelector(at)?.scrollTop ?? 0]);
  return () => {
    for (const object of output.querySelectorAll(".object")) {
      object.open = !closed.has(title(object));
    }
    for (const [at, top] of places) {
      const part = output.querySelector(at);
      if (part) {
        part.scrollTop = top;
      }
    }
  };
}

/** Adds what a result has with the script only. */
function dress(memory) {
  const head = output.querySelector(".head");
  showCopies();
  const template = output.querySelector("#template");
  const objects = [...output.querySelectorAll(".object")];
  if (!head || !objects.length) {
    return;
  }
  if (objects.length > MANY_OBJECTS) {
    const fold = button("quiet", "Fold all", () => {
      const open = !objects.some((object) => object.open);
      objects.forEach((object) => {
        object.open = open;
      });
      fold.textContent = open ? "Fold all" : "Unfold all";
    });
    fold.textContent = objects.some((object) => object.open) ? "Fold all" : "Unfold all";
    head.append(fold);
  }
  if (template) {
    template.open = memory.get("beside") === true;
    const beside = button(
      "quiet beside",
      "Template beside it",
      () => {
        template.open = !template.open;
        beside.setAttribute("aria-pressed", template.open);
        memory.set("beside", template.open);
      },
      { "aria-pressed": String(template.open), "aria-controls": "template" },
    );
    head.append(beside);
    stepTogether(template);
  }
  for (const object of objects) {
    const name = object.querySelector(".name")?.textContent ?? "";
    object.append(make("button", { type: "button", className: "copy", "aria-label": `Copy ${name}` }, "Copy"));
  }
  for (const part of output.querySelectorAll(".from[title]")) {
    part.dataset.origin = part.title;
    part.setAttribute("aria-description", part.title);
    part.removeAttribute("title");
  }
  const use = output.querySelector("#use");
  const line = make("p", { className: "origin", id: "origin" }, "Point at an underlined value to see where it comes from");
  if (output.querySelector(".from")) {
    if (use) {
      use.before(line);
    } else {
      output.append(line);
    }
  }
  startTabs(memory);
}

function startTabs(memory) {
  const tabs = [...output.querySelectorAll(".tab")];
  const chosen = tabs.find((tab) => tab.querySelector("summary").textContent === memory.get("tab"));
  if (chosen) {
    chosen.open = true;
  }
  for (const tab of tabs) {
    tab.querySelector("summary").addEventListener("click", (event) => {
      if (tab.open) {
        event.preventDefault();
      }
      memory.set("tab", tab.querySelector("summary").textContent);
    });
  }
}

/** As the result is scrolled, the Template beside it follows. */
function stepTogether(template) {
  const objects = output.querySelector(".objects");
  const follow = onceAFrame(() => {
    const top = objects.getBoundingClientRect().top;
    const seen = [...objects.querySelectorAll("[data-line]")].find((part) => part.getBoundingClientRect().top >= top);
    const line = template.open && seen && document.getElementById(`t-l${seen.dataset.line}`);
    if (line) {
      const below = seen.getBoundingClientRect().top - top;
      template.scrollTop += line.getBoundingClientRect().top - template.getBoundingClientRect().top - below;
    }
  });
  objects.addEventListener("scroll", follow, { passive: true });
}

// --- result, Template and form point at one another

function startLinks(fields, view) {
  const names = (part) => (part.dataset.parameters ?? "").split(/\s+/).filter(Boolean);
  const clear = () => {
    document.querySelectorAll(".lit").forEach((part) => part.classList.remove("lit"));
    const line = document.getElementById("origin");
    line?.classList.remove("on");
  };
  const lightLine = (number) => {
    const line = document.getElementById(`t-l${number}`);
    line?.classList.add("lit");
    return line;
  };
  const fromValue = (part, scroll) => {
    clear();
    part.classList.add("lit");
    for (const name of names(part)) {
      fields.get(name)?.classList.add("lit");
    }
    const line = lightLine(part.dataset.line);
    if (scroll && line && output.querySelector("#template[open]")) {
      within(line, line.closest(".template"));
      within(line, line.closest("pre"));
    }
    const origin = document.getElementById("origin");
    if (origin && part.dataset.origin) {
      origin.textContent = part.dataset.origin;
      origin.classList.add("on");
    }
  };
  const fromField = (field, scroll) => {
    clear();
    const places = [...output.querySelectorAll(".from")].filter((part) => names(part).includes(field.dataset.parameter));
    for (const part of places) {
      part.classList.add("lit");
      lightLine(part.dataset.line);
    }
    const objects = output.querySelector(".objects");
    if (scroll && places.length && objects) {
      within(places[0], objects);
    }
  };
  const fromLine = (line) => {
    clear();
    line.classList.add("lit");
    const number = line.id.replace("t-l", "");
    for (const part of output.querySelectorAll(`.from[data-line="${number}"]`)) {
      part.classList.add("lit");
      names(part).forEach((name) => fields.get(name)?.classList.add("lit"));
    }
  };
  const react = (scroll) => ({ target }) => {
    const part = target.closest?.(".from, .field, #template .line");
    if (!part) {
      return;
    }
    if (part.matches(".from")) {
      fromValue(part, true);
    } else if (part.matches(".field")) {
      fromField(part, scroll);
    } else {
      fromLine(part);
    }
  };
  main.addEventListener("pointerover", react(false));
  main.addEventListener("focusin", react(true));
  main.addEventListener("pointerout", ({ target }) => {
    if (target.closest?.(".from, .field, #template .line")) {
      clear();
      const focused = document.activeElement?.closest?.(".from, .field");
      if (focused && main.contains(focused)) {
        react(false)({ target: focused });
      }
    }
  });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && clear());
  let shown;
  output.addEventListener("click", (event) => {
    const part = event.target.closest?.(".from");
    const field = part && fields.get(names(part)[0]);
    if (!field) {
      return;
    }
    event.preventDefault();
    if (event.pointerType === "touch" && shown !== part) {
      // The first tap shows where the value comes from, the second goes there.
      shown = part;
      fromValue(part, true);
      return;
    }
    view.values();
    reach(controls(field)[0] ?? field);
  });
}

/** Scrolls a box so that a part of it is in its middle, if it is out of view; nothing else scrolls. */
function within(part, box) {
  const inner = part.getBoundingClientRect();
  const outer = box.getBoundingClientRect();
  if (box.scrollHeight > box.clientHeight && (inner.top < outer.top + 40 || inner.bottom > outer.bottom)) {
    box.scrollTop += inner.top - outer.top - box.clientHeight / 2;
  }
}

// --- the parts of the page

/** On narrow screens: the values or the result. */
function startSwitch() {
  const show = (results) => {
    main.classList.toggle("results", results);
    update();
  };
  const values = button("", "Values", () => show(false), { "aria-controls": "form" });
  const result = button("", "Result", () => show(true), { "aria-controls": "output" });
  const update = () => {
    const results = main.classList.contains("results");
    values.setAttribute("aria-pressed", !results);
    result.setAttribute("aria-pressed", results);
  };
  document.addEventListener("viewchange", update);
  const box = make("div", { className: "switch", role: "group", "aria-label": "View" }, values, result);
  main.querySelector(".work").before(box);
  main.classList.toggle("results", document.body.dataset.page === "result");
  update();
  return { values: () => show(false) };
}

/** The search over many parameters. */
function startFinder(fields, memory) {
  if (fields.size <= MANY_FIELDS) {
    return;
  }
  const texts = new Map();
  for (const [name, field] of fields) {
    const help = [...field.querySelectorAll("label, legend, .help")].map((part) => part.textContent);
    texts.set(field, [name, ...help].join(" ").toLowerCase());
  }
  const query = make("input", { type: "search", id: "finder", placeholder: "Search parameters", autocomplete: "off", "aria-label": "Search parameters" });
  const count = make("p", { className: "count", role: "status" });
  const groups = [...form.querySelectorAll(".group-fold, .group")];
  const folds = [...form.querySelectorAll(".group-fold")];
  let before;
  const search = () => {
    const wanted = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [field, text] of texts) {
      field.hidden = !wanted.every((word) => text.includes(word));
      shown += field.hidden ? 0 : 1;
    }
    for (const group of groups) {
      group.hidden = wanted.length > 0 && !group.querySelector(".field:not([hidden])");
    }
    if (wanted.length) {
      before ??= folds.map((fold) => fold.open);
      folds.forEach((fold) => {
        fold.open = true;
      });
    } else if (before) {
      folds.forEach((fold, index) => {
        fold.open = before[index];
      });
      before = undefined;
    }
    count.textContent = wanted.length ? `${shown} of ${counted(fields.size, "parameter")}` : counted(fields.size, "parameter");
    memory.set("search", query.value);
  };
  query.addEventListener("input", search);
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
    }
  });
  const box = make("div", { className: "finder" }, query, count);
  if (folds.length) {
    const all = button("quiet", "Open all", () => {
      const open = folds.some((fold) => !fold.open);
      folds.forEach((fold) => {
        fold.open = open;
      });
    });
    query.after(all);
    const update = () => {
      all.textContent = folds.some((fold) => !fold.open) ? "Open all" : "Fold all";
    };
    folds.forEach((fold) => fold.addEventListener("toggle", update));
    update();
  }
  form.prepend(box);
  query.value = memory.get("search") ?? "";
  search();
}

function startFolds(memory) {
  const known = memory.get("folds") ?? {};
  for (const fold of form.querySelectorAll("details[id]")) {
    if (fold.id in known && !fold.querySelector("[aria-invalid=true]")) {
      fold.open = known[fold.id];
    }
    fold.addEventListener("toggle", () => {
      if (!document.getElementById("finder")?.value) {
        memory.set("folds", { ...memory.get("folds"), [fold.id]: fold.open });
      }
    });
  }
}

/** The height of the result: from where it begins to the end of the window. */
function startPane() {
  const measure = onceAFrame(() => {
    const top = Math.max(16, output.getBoundingClientRect().top);
    output.style.setProperty("--pane", `${Math.round(innerHeight - top - 16)}px`);
  });
  addEventListener("scroll", measure, { passive: true });
  addEventListener("resize", measure);
  measure();
}

// --- what survives a reload and the way back

/** Values and views of this form, for as long as the tab is open. Secrets are never kept. */
function remembered() {
  const key = `krm-template ${location.pathname}`;
  let state = {};
  try {
    state = JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    // Nothing is kept, or storage is off.
  }
  const write = () => {
    try {
      sessionStorage.setItem(key, JSON.stringify(state));
    } catch {
      // Storage is off or full: the form works without.
    }
  };
  const kept = () => [...form.querySelectorAll(".field")].filter((field) => !isSecret(field));
  const stored = !location.pathname.endsWith("/upload");
  return {
    get: (name) => state[name],
    set(name, value) {
      state[name] = value;
      write();
    },
    save() {
      if (stored) {
        const values = kept().map((field) => [field.dataset.parameter, sent(field)]);
        const changed = kept().filter((field) => field.dataset.default !== sent(field));
        const names = new Set(changed.map((field) => field.dataset.parameter));
        this.set("values", Object.fromEntries(values.filter(([name]) => names.has(name))));
      }
    },
    /** Puts the kept values into a new form. A page that shows what was sent knows better. */
    restore(checks) {
      if (document.body.dataset.page !== "form" || form.querySelector("[aria-invalid=true]") || !stored) {
        this.save();
        return;
      }
      for (const field of kept()) {
        const value = state.values?.[field.dataset.parameter];
        if (value !== undefined && value !== sent(field)) {
          put(field, value);
          checks.touch(field.dataset.parameter);
        }
      }
    },
  };
}
