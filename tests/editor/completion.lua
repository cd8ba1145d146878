-- Writes each text in turn, asks at its place for completion, and prints what the menu shows and would insert.
local asked = vim.fn.json_decode(vim.env.POLICYLINT_ASKED)
vim.cmd("edit " .. asked.file)
vim.bo.swapfile = false
local folder = { uri = vim.uri_from_fname(asked.root), name = "shop" }
local id = vim.lsp.start_client({ name = "policylint", cmd = { asked.program, "lsp" }, root_dir = asked.root, workspace_folders = { folder } })
vim.lsp.buf_attach_client(0, id)
vim.wait(20000, function() local c = vim.lsp.get_client_by_id(id); return c and c.initialized end, 20)
local said = {}
for _, place in ipairs(asked.places) do
  vim.api.nvim_buf_set_lines(0, 0, -1, false, place.lines)
  vim.api.nvim_win_set_cursor(0, { place.line + 1, place.column })
  local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", {
    textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = place.line, character = place.column },
  }, 20000)
  local items = answers and answers[id] and vim.lsp.util.text_document_completion_list_to_complete_items(answers[id].result, place.prefix) or {}
  local shown = {}
  for _, item in ipairs(items) do table.insert(shown, { item.abbr, item.word, item.info or "" }) end
  table.insert(said, shown)
end
io.stdout:write(vim.fn.json_encode(said) .. "\n")
vim.cmd("qa!")
