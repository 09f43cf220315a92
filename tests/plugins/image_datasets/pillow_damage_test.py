"""Damaged files, and those of other kinds, are refused with names and causes, as Pillow refuses them, without a crash."""
import contextlib
import os
import random
import sys
import zlib

# Ends this script, too, where there is no Pillow.
from pillow_compare import by_pillow, check, exif, photo, read, read_folder, run, said

import numpy as np
from PIL import Image


def damaged(folder):
    """500 damaged copies of each format: an error that names the file, or an image; never a crash."""
    rgb = Image.fromarray(photo(61, 47, 3))
    random.seed(7)
    for ending in ("jpg", "png", "webp", "bmp", "tif", "ppm", "jp2"):
        whole = folder / f"whole.{ending}"
        rgb.save(whole, **({"exif": exif(6)} if ending in ("jpg", "png", "webp") else {}))
        content = whole.read_bytes()
        copies = folder / ending
        copies.mkdir()
        for i in range(500):
            data = bytearray(content)
            if i % 3 == 0:
                data = data[:random.randrange(len(data))]
            for _ in range(0 if i % 3 == 0 else 1 + i % 5):
                # The head of a file decides more than its body.
                at = random.randrange(min(len(data), 200) if i % 2 else len(data))
                data[at] = random.randrange(256)
            (copies / f"{i:03}.{ending}").write_bytes(data)
        cut_alone = folder / f"cut-{ending}"
        cut_alone.mkdir()
        for i in range(0, 500, 3):
            (cut_alone / f"{i:03}.{ending}").write_bytes((copies / f"{i:03}.{ending}").read_bytes())
        read("image_folder", path=str(cut_alone), labels=False)
        check(said[-1] == "", f"damaged {ending}: files that are cut off are told on the console: {said[-1][:300]}")
        told = read("image_folder", path=str(copies), labels=False)
        errors = [(i, item["error"]) for i, item in enumerate(told["items"]) if "error" in item]
        check(len(told["items"]) == 500, f"damaged {ending}: {told.get('error')}")
        check(all(error.startswith(f"{copies}/{i:03}.{ending}: ") for i, error in errors), f"damaged {ending}: names")
        cut = [error for i, error in errors if i % 3 == 0]
        check(len(cut) == 167, f"damaged {ending}: {len(cut)} of 167 that are cut off are refused")
        print(f"  {ending}: {len(errors)} of 500 refused, all that are cut off among them; such as {cut[-1]}")


@contextlib.contextmanager
def console_closed():
    """Pillow's libtiff writes what it finds to the console."""
    sys.stderr.flush()
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nothing)


def damaged_tiff(folder):
    """What Pillow refuses of compressed TIFF with one byte changed is refused here too, with libtiff's words."""
    rgb = Image.fromarray(photo(61, 47, 3))
    for compression in ("tiff_lzw", "tiff_deflate", "tiff_adobe_deflate", "lzma", "packbits"):
        copies = folder / compression
        copies.mkdir()
        rgb.save(copies / "whole.tif", compression=compression)
        whole = (copies / "whole.tif").read_bytes()
        tags = Image.open(copies / "whole.tif").tag_v2
        begin, size = tags[273][0], tags[279][0]
        by_us_alone, by_pillow_too, kept = 0, 0, 0
        for i in range(60):
            data = bytearray(whole)
            data[begin + i * size // 60] ^= (1, 0x80, 0xFF)[i % 3]
            (copies / f"{i:02}.tif").write_bytes(data)
        items = read_folder(copies)
        check(said[-1] == "", f"damaged {compression}: told on the console: {said[-1][:300]}")
        for name, item in items.items():
            error = item.get("error")
            try:
                with console_closed():
                    wanted = by_pillow(copies / name, "RGB")
            except OSError:
                check(error is not None, f"damaged {compression}: {name} is read, and Pillow refuses it")
                check("libtiff says" in (error or "libtiff says"), f"damaged {compression}: {name}: {error}")
                by_pillow_too += 1
                continue
            if name == "whole.tif":
                check(error is None and (item["image"] == wanted).all(), f"{compression}: the whole file: {error}")
            by_us_alone += error is not None
            kept += error is None
        check(by_pillow_too > 0 or compression == "packbits", f"damaged {compression}: Pillow refuses nothing")
        print(f"  {compression}: {by_pillow_too} of 60 refused as Pillow does, {by_us_alone} here alone, {kept - 1} read")


def damaged_after_another(folder):
    """A JPEG that is cut off within its header is told as that, and not with the size of the image before it."""
    Image.fromarray(photo(83, 61, 3)).save(folder / "0.jpg")
    whole = (folder / "0.jpg").read_bytes()
    scan = whole.index(b"\xff\xda")
    cuts = (4, 20, 100, scan, scan + 5)
    for i, cut in enumerate(cuts, 1):
        (folder / f"{i}.jpg").write_bytes(whole[:cut])
    (folder / "6.jpg").write_bytes(whole[:scan + 200])
    for orientation in ("apply", "ignore"):
        items = read_folder(folder, orientation=orientation)
        check("error" not in items["0.jpg"], "the whole file is read")
        for i, cut in enumerate(cuts, 1):
            words = items[f"{i}.jpg"].get("error", "no error")
            check(words.endswith("is cut off: the JPEG data ends before its header does"), f"cut at {cut}: {words}")
        words = items["6.jpg"].get("error", "no error")
        check("the last of its 83 x 61 pixels" in words, f"cut within the pixels: {words}")


def mended(png):
    """A PNG file whose checksums fit its data again."""
    data, at = bytearray(png), 8
    while at < len(data):
        end = at + 8 + int.from_bytes(data[at:at + 4], "big")
        data[end:end + 4] = zlib.crc32(data[at + 4:end]).to_bytes(4, "big")
        at = end + 4
    return bytes(data)


def refused_heads(folder):
    """Heads that tell what no file can hold are refused before memory is taken for it, of masks too."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    palette = Image.fromarray(photo(22, 31, 3)).quantize(5)
    palette.save(folder / "whole.png")
    whole = (folder / "whole.png").read_bytes()
    for name, at, value, words in (("depth", 24, 40, "values of 40 bits"), ("size", 16, 127, "tells a size of 21307")):
        broken = bytearray(whole)
        broken[at] = value
        (folder / "masks" / f"{name}.png").write_bytes(mended(broken))
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.png")
        item = read_folder(folder / "masks")[f"{name}.png"]
        check(words in item.get("error", ""), f"{name}: {item.get('error', 'no error')}")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=5)
    check(all("is damaged" in item.get("error", "") for item in told["items"]), f"heads of masks: {told['items']}")


def refused_sizes(folder):
    """Sizes of TIFF and JPEG 2000 that the file's pixels cannot fill are refused before memory is taken for them, and
    blank images, of which a byte holds the most pixels, are read."""
    blank = Image.fromarray(np.zeros((2000, 2000), np.uint8))
    for packing in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "lzma", "group4"):
        image = blank.convert("1") if packing == "group4" else blank
        image.save(folder / f"blank-{packing}.tif", compression=packing)
    blank.save(folder / "blank.jp2")
    wanted = {}
    small = Image.fromarray(photo(61, 47, 1)[:, :, 0])
    small.save(folder / "whole.tif")
    whole = (folder / "whole.tif").read_bytes()
    directory = int.from_bytes(whole[4:8], "little")
    for i in range(int.from_bytes(whole[directory:directory + 2], "little")):
        at = directory + 2 + 12 * i
        name = {256: "width", 257: "height"}.get(int.from_bytes(whole[at:at + 2], "little"))
        if name is None:
            continue
        broken = bytearray(whole)
        broken[at + 2:at + 12] = (4).to_bytes(2, "little") + (1).to_bytes(4, "little") + (9_000_000).to_bytes(4, "little")
        (folder / f"{name}.tif").write_bytes(broken)
        wanted[f"{name}.tif"] = "its TIFF header tells a size of"
    small.save(folder / "whole.jp2", tile_size=(32, 32))
    broken = bytearray((folder / "whole.jp2").read_bytes())
    at = broken.index(b"\xff\x4f\xff\x51") + 8
    broken[at:at + 4] = (9_000_000).to_bytes(4, "big")
    (folder / "width.jp2").write_bytes(broken)
    wanted["width.jp2"] = "its JPEG 2000 header tells a size of"
    check(len(wanted) == 3, "width and height were found")
    for name, item in read_folder(folder).items():
        words = item.get("error", "")
        check(wanted[name] in words if name in wanted else not words, f"{name}: {words}")
    check(said[-1] == "", f"sizes: told on the console: {said[-1][:300]}")


def remarks_of_libpng(folder):
    """Chunks of which no pixel follows and that libpng would judge on the console change nothing."""
    plain, palette = Image.fromarray(photo(22, 31, 3)), Image.fromarray(photo(22, 31, 3)).quantize(5)
    plain.save(folder / "profile.png", icc_profile=b"no profile" + bytes(200))
    palette.save(folder / "clear.png", transparency=1)
    palette.save(folder / "palette.png")
    whole = (folder / "palette.png").read_bytes()
    at = whole.index(b"IDAT") - 4

    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    (folder / "chunks.png").write_bytes(whole[:at] + chunk(b"tRNS", bytes(200)) + chunk(b"bKGD", bytes(9)) +
                                        chunk(b"pHYs", bytes(3)) + chunk(b"tEXt", b"x" * 100) + whole[at:])
    (folder / "critical.png").write_bytes(whole[:at] + chunk(b"ABCD", bytes(9)) + whole[at:])
    begin = whole.index(b"PLTE") - 4
    size = int.from_bytes(whole[begin:begin + 4], "big") + 12
    (folder / "no-palette.png").write_bytes(whole[:begin] + whole[begin + size:])
    wanted = {"critical.png": "is not known", "no-palette.png": "has no palette"}
    for name, item in read_folder(folder, color="rgba").items():
        if name in wanted:
            check(wanted[name] in item.get("error", ""), f"{name}: {item.get('error', 'no error')}")
            continue
        like = "palette.png" if name == "chunks.png" else name
        check("error" not in item and (item["image"] == by_pillow(folder / like, "RGBA")).all(),
              f"{name}: {item.get('error', 'other pixels')}")
    check(said[-1] == "", f"chunks of PNG: told on the console: {said[-1][:300]}")


def refused(folder):
    """What is no image of ours is named for what it is."""
    wanted = {
        "gif.png": (b"GIF89a" + bytes(30), "GIF"),
        "empty.png": (b"", "is empty"),
        "text.png": (b"hello world", "is no image: it begins with 68 65"),
        "page.jpg": (b"<!DOCTYPE html><html>", "web page"),
        "lfs.jpg": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        "cut.jpg": (b"\xff\xd8\xff\xe0", "cut off"),
    }
    for name, (content, _) in wanted.items():
        (folder / name).write_bytes(content)
    Image.fromarray(photo(9, 9, 3)).save(folder / "film.webp", save_all=True,
                                         append_images=[Image.fromarray(photo(9, 9, 3, 2))])
    Image.fromarray(np.zeros((4, 4), np.float32)).save(folder / "float.tif")
    wanted["film.webp"] = (None, "animated")
    wanted["float.tif"] = (None, "8 or 16 bits")
    for name, item in read_folder(folder).items():
        check(wanted[name][1] in item.get("error", ""), f"{name}: {item.get('error', 'no error')}")


run(refused=refused, heads=refused_heads, sizes=refused_sizes, libpng=remarks_of_libpng, damaged=damaged,
    tiff=damaged_tiff, after_another=damaged_after_another)
