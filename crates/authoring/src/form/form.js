// Makes a command line, a values file and a TemplateInstance of what is entered, without a server.
// The checks are those of the browser, by the attributes of the fields.
(() => {
  const form = document.getElementById("form");
  const status = document.getElementById("status");
  const fields = [...form.querySelectorAll(".field")];
  const touched = new Set();
  const FILES = { command: "command.sh", values: "values.yaml", instance: "instance.yaml" };
  const MANY_FIELDS = 30;

  document.documentElement.classList.add("js");

  const make = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const controls = (field) => [...field.querySelectorAll("input, select, textarea")].filter(({ type }) => type !== "file");

  const entered = (field) => {
    const all = controls(field);
    const isChoice = all[0].type === "radio";
    return (isChoice ? all.find(({ checked }) => checked)?.value : all[0].value) ?? "";
  };

  // A number that the browser cannot read has the value "", but it is not nothing.
  const isEmpty = (field) => entered(field) === "" && !controls(field)[0].validity.badInput;

  // As `gives` on the server: what is there at first is not a value to give.
  const isGiven = (field, value) => {
    const first = field.dataset.default?.replace(/\r\n?/g, "\n");
    return first === undefined ? value !== "" : value !== first;
  };

  /** The values to give, as pairs of a field and a text; a masked and a missing one is `<NAME>`. */
  const given = () => {
    const values = [];
    for (const field of fields) {
      const { parameter, masked, required } = field.dataset;
      const value = entered(field);
      const isMissing = required !== undefined && value === "";
      if (isMissing || (isGiven(field, value) && masked !== undefined)) {
        values.push([field, `<${parameter}>`]);
      } else if (isGiven(field, value)) {
        values.push([field, value]);
      }
    }
    return values;
  };

  // --- YAML and shells

  // YAML is JSON and more, but some characters that JSON leaves as they are must be escaped.
  const quoted = (text) =>
    JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

  const WORDS = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
  const PLAIN = /^[A-Za-z_/][A-Za-z0-9_./-]*$/;
  const scalar = (text) => (PLAIN.test(text) && !WORDS.test(text) ? text : quoted(text));

  /** Whether a text can be written line by line: no leading space, no line that ends in one. */
  const isBlock = (text) => /^[^\s#][\s\S]*\n/.test(text) && /^[\x20-\x7e\n\u00a1-\ud7ff]*$/.test(text) && !/[ \u2028\u2029]\n|\n\n$|[\u2028\u2029]| $/.test(text);

  const LITERALS = {
    int: /^-?(?:0|[1-9][0-9]*)$/,
    number: /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/,
    bool: /^(?:true|false)$/,
  };

  /** A value in YAML, behind its key and a colon. */
  const yaml = (type, text, indent) => {
    if (LITERALS[type]?.test(text)) {
      return text;
    }
    if (isBlock(text)) {
      const mark = text.endsWith("\n") ? "|" : "|-";
      return [mark, ...text.replace(/\n$/, "").split("\n").map((line) => line && `${indent}  ${line}`)].join("\n");
    }
    return scalar(text);
  };

  const mapping = (values, indent) =>
    values.map(([{ dataset }, text]) => `${indent}${scalar(dataset.parameter)}: ${yaml(dataset.type, text, indent)}\n`).join("");

  const shell = (text) => (/^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  // --- the outputs

  const command = (values) => {
    const words = values.map(([{ dataset }, text]) => `-p ${shell(`${dataset.parameter}=${text}`)}`);
    return `${[`krm-template process -f ${shell(form.dataset.file)}`, ...words].join(" \\\n  ")}\n`;
  };

  const valuesFile = (values) => mapping(values, "") || "{}\n";

  const instance = (values) => {
    const name = scalar(form.dataset.template || "template");
    const head = "apiVersion: template.krm.dev/v1alpha1\nkind: TemplateInstance\nmetadata:\n";
    const parameters = values.length ? `  parameters:\n${mapping(values, "    ")}` : "";
    return `${head}  name: ${name}\nspec:\n  templateRef:\n    name: ${name}\n${parameters}`;
  };

  /** Checks the pattern of a control of several lines, which the browser does not. */
  const checkPattern = (control) => {
    const { pattern } = control.dataset;
    if (pattern !== undefined) {
      const isRight = control.value === "" || new RegExp(`^(?:${pattern})$`, "v").test(control.value);
      control.setCustomValidity(isRight ? "" : "The value does not match the pattern.");
    }
  };

  const update = () => {
    const values = given();
    const outputs = { command: command(values), values: valuesFile(values), instance: instance(values) };
    for (const [id, text] of Object.entries(outputs)) {
      document.getElementById(`use-${id}`).textContent = text;
    }
    let wrong = 0;
    let missing = 0;
    for (const field of fields) {
      checkPattern(controls(field)[0]);
      const control = controls(field).find((one) => !one.checkValidity());
      const error = field.querySelector(".error");
      const isShown = control && touched.has(field);
      missing += control && isEmpty(field) ? 1 : 0;
      wrong += control && !isEmpty(field) ? 1 : 0;
      error.textContent = "";
      error.append(...(isShown ? [make("span", { textContent: control.validationMessage })] : []));
      error.hidden = !isShown;
      for (const one of controls(field)) {
        one.toggleAttribute("aria-invalid", false);
        if (isShown) {
          one.setAttribute("aria-invalid", "true");
          one.setAttribute("aria-errormessage", error.id);
        }
      }
    }
    const many = (count, what) => (count ? [`${count} ${count === 1 ? "value" : "values"} ${what}`] : []);
    status.textContent = [...many(values.length - missing, "given"), ...many(missing, "missing"), ...many(wrong, "wrong")].join(", ") || "all values are the defaults";
  };

  // --- what is pressed

  const touch = ({ target }) => {
    const field = target.closest?.(".field");
    if (field && !isEmpty(field)) {
      touched.add(field);
      update();
    }
  };
  form.addEventListener("input", update);
  form.addEventListener("focusout", touch);
  form.addEventListener("submit", (event) => event.preventDefault());

  form.addEventListener("change", async (event) => {
    const { target } = event;
    touch(event);
    if (target.type === "file" && target.files.length) {
      const bytes = new Uint8Array(await target.files[0].arrayBuffer());
      const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
      controls(target.closest(".field"))[0].value = btoa(text);
      update();
    }
  });

  const copy = async (button, source) => {
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      // A file has no clipboard in some browsers: select the text instead.
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  };

  const download = (name, source) => {
    const address = URL.createObjectURL(new Blob([source.textContent], { type: "text/plain" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  for (const button of document.querySelectorAll(".copy")) {
    const id = button.dataset.copy;
    const source = document.getElementById(id);
    const name = FILES[id.replace("use-", "")];
    button.hidden = false;
    button.onclick = () => copy(button, source);
    button.after(make("button", { type: "button", className: "copy", textContent: `Download ${name}`, onclick: () => download(name, source) }));
  }

  for (const field of fields) {
    takeLines(field);
    if ("masked" in field.dataset) {
      addShow(field);
    }
  }

  if (fields.length > MANY_FIELDS) {
    const query = make("input", { type: "search", placeholder: "Search parameters", ariaLabel: "Search parameters" });
    const count = make("p", { className: "count", role: "status" });
    const search = () => {
      const wanted = query.value.toLowerCase().split(/\s+/);
      for (const field of fields) {
        field.hidden = !wanted.every((word) => field.textContent.toLowerCase().includes(word));
      }
      for (const fold of form.querySelectorAll(".group-fold")) {
        fold.hidden = !fold.querySelector(".field:not([hidden])");
        fold.open ||= query.value !== "";
      }
      const shown = fields.filter((field) => !field.hidden).length;
      count.textContent = `${shown < fields.length ? `${shown} of ` : ""}${fields.length} parameters`;
    };
    query.oninput = search;
    search();
    form.prepend(make("div", { className: "finder" }, query, count));
  }

  // An output stays open: they are tabs.
  for (const summary of document.querySelectorAll(".tab > summary")) {
    summary.onclick = (event) => summary.parentElement.open && event.preventDefault();
  }
  update();
})();
